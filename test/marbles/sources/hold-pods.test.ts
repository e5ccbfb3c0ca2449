import { map, NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { PodChange } from '../../../src/model/desired.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import type { PodCommand, StopMemory } from '../../../src/model/pod-command.ts';
import { holdPods, type StopStore } from '../../../src/sources/hold-pods.ts';
import { marbles } from '../harness.ts';

function pod(uid: string, name = uid): Pod {
  return {
    metadata: { uid: uid as PodUid, name, namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [{ name: 'c', image: 'web:1' }] },
  };
}

function change(op: PodChange['op'], of: Pod): PodChange {
  return { op, source: 'file', pod: of };
}

function command(verb: PodCommand['verb'], name: string): PodCommand {
  return { verb, namespace: 'default', name };
}

/** Keeps in mind what is saved, as a disk does. */
function memory(kept?: StopMemory): StopStore & { readonly saved: StopMemory[] } {
  const saved: StopMemory[] = [];
  return {
    saved,
    load: () => of(kept),
    save: (now) => {
      saved.push(now);
      return of(undefined);
    },
  };
}

const short = map((changes: readonly PodChange[]) =>
  changes.map(({ op, pod: { metadata } }) => `${op} ${metadata.uid}`),
);

describe('holdPods', () => {
  it(
    'does what its diagram shows',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot('  --b-----------------r---', {
        b: [change('add', pod('p')), change('add', pod('q'))],
        r: [change('remove', pod('p')), change('add', pod('r', 'p'))],
      });
      const command$ = hot('--------s----t---x------', {
        s: command('stop', 'p'),
        t: command('start', 'p'),
        x: command('stop', 'p'),
      });
      const result = '      --b-----P----p---P--r---';

      const held = holdPods({ batch$, allSeen$: NEVER, objects$: NEVER, problem$: NEVER }, command$, memory());
      expectObservable(held.batch$.pipe(short)).toBe(result, {
        b: ['add p', 'add q'],
        P: ['remove p'],
        p: ['add p'],
        r: ['add r'],
      });
    }),
  );

  it(
    'holds back what was stopped before the agent started, and tells that all is seen after the pods',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot('  --b---', { b: [change('add', pod('p')), change('add', pod('q'))] });
      const allSeen$ = hot('f-t---', { f: false, t: true });
      const store = memory({ version: 1, stopped: [{ namespace: 'default', name: 'p', uid: 'p' as PodUid }] });
      const held = holdPods({ batch$, allSeen$, objects$: NEVER, problem$: NEVER }, NEVER, store);
      expectObservable(held.batch$.pipe(short)).toBe('--b', { b: ['add q'] });
      expectObservable(held.allSeen$).toBe('          f-t', { f: false, t: true });
      expectObservable(held.stopped$.pipe(map((pods) => pods.map(({ metadata }) => metadata.uid)))).toBe('n-p', {
        n: [],
        p: ['p'],
      });
    }),
  );

  it(
    'answers each command, once it is kept',
    marbles(({ hot, cold, expectObservable }) => {
      const batch$ = hot('  b------------', { b: [change('add', pod('p'))] });
      const command$ = hot('-s-----s--u-t', {
        s: command('stop', 'p'),
        u: command('stop', 'nobody'),
        t: command('start', 'p'),
      });
      const store: StopStore = { load: () => of(undefined), save: () => cold('---(s|)', { s: undefined }) };
      const held = holdPods({ batch$, allSeen$: NEVER, objects$: NEVER, problem$: NEVER }, command$, store);
      expectObservable(held.reply$.pipe(map(({ reply }) => reply.kind))).toBe('----d--n--u----d', {
        d: 'done',
        n: 'nothingToDo',
        u: 'unknown',
      });
    }),
  );

  it(
    'lets no change of a manifest wait for a command that a slow disk has not kept yet',
    marbles(({ hot, cold, expectObservable }) => {
      const batch$ = hot('  b--r-------', {
        b: [change('add', pod('p')), change('add', pod('q'))],
        r: [change('remove', pod('q'))],
      });
      const command$ = hot('-st--------', { s: command('stop', 'p'), t: command('stop', 'q') });
      const store: StopStore = { load: () => of(undefined), save: () => cold('----(s|)', { s: undefined }) };
      const held = holdPods({ batch$, allSeen$: NEVER, objects$: NEVER, problem$: NEVER }, command$, store);
      expectObservable(held.batch$.pipe(short)).toBe('b--r-P', {
        b: ['add p', 'add q'],
        r: ['remove q'],
        P: ['remove p'],
      });
      expectObservable(held.reply$.pipe(map(({ reply }) => reply.kind))).toBe('-----(du)', { d: 'done', u: 'unknown' });
    }),
  );

  it(
    'does nothing that it could not keep in mind, and says so',
    marbles(({ hot, expectObservable }) => {
      const batch$ = hot('  b--', { b: [change('add', pod('p'))] });
      const command$ = hot('-s-', { s: command('stop', 'p') });
      const store: StopStore = {
        load: () => throwError(() => new Error('no disk')),
        save: () => throwError(() => new Error('no room')),
      };
      const held = holdPods({ batch$, allSeen$: NEVER, objects$: NEVER, problem$: NEVER }, command$, store);
      expectObservable(held.batch$.pipe(short)).toBe('b', { b: ['add p'] });
      expectObservable(held.reply$.pipe(map(({ reply }) => reply))).toBe('-f', {
        f: { kind: 'failed', message: 'no room' },
      });
    }),
  );

  it('forgets what was stopped and is wanted by nobody, when all sources were heard', () => {
    const store = memory({ version: 1, stopped: [{ namespace: 'default', name: 'p', uid: 'p' as PodUid }] });
    marbles(({ hot, flush }) => {
      const batch$ = hot<readonly PodChange[]>('b', { b: [change('add', pod('q'))] });
      holdPods(
        { batch$, allSeen$: hot('-t', { t: true }), objects$: NEVER, problem$: NEVER },
        NEVER,
        store,
      ).batch$.subscribe();
      flush();
      expect(store.saved).toEqual([{ version: 1, stopped: [] }]);
    })();
  });
});
