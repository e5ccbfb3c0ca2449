import { asyncScheduler, concat, lastValueFrom, map, NEVER, of, timer, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Header, Line } from '../../src/cli/recording/line.ts';
import { recorder } from '../../src/cli/recording/recorder.ts';
import type { Tape } from '../../src/cli/recording/tape.ts';
import { renderReplay } from '../../src/cli/replay/render-replay.ts';
import { replay, type Replayed } from '../../src/cli/replay/replay.ts';
import type { Desired } from '../../src/model/desired.ts';
import type { LocalObject } from '../../src/model/objects/local-object.ts';
import type { Pod } from '../../src/model/pod.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../../src/model/rxlet-annotations.ts';
import { faultDice } from '../../src/simulation/faults.ts';
import type { ContainerBehaviour } from '../../src/simulation/process-script.ts';
import type { PodActions } from '../../src/streams/workers/pod-workers.ts';
import { aSecret } from '../unit/model/objects/a-set.ts';
import { folder, live, pod } from './harness.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

const crashes: ContainerBehaviour = ({ name }) =>
  name === 'crash' ? { exits: { after: 3 * SECOND, code: 1 } } : { onTerm: { after: SECOND, code: 0 } };

describe('a recording of an agent', () => {
  it('replays equal: hours of a node on which calls fail, hang, are lost and are answered late', async () => {
    const { tape, lines } = recording();
    live(
      {
        tape,
        faults: faultDice({ fail: 0.02, slow: 0.02, hang: 0.002, loseAnswer: 0.005, late: 0.01, linger: 0.005 }),
        containerBehaviour: crashes,
      },
      ({ agent, world, at }) => {
        const crash = pod('b', { containers: ['main', 'crash'] });
        agent(
          folder(
            [0, [pod('a'), crash]],
            [HOUR / 2, [pod('a', { uid: 'a2', value: 'edited' }), crash, probed()]],
            [HOUR, [crash]],
          ),
          0,
          2 * HOUR,
        );
        at(HOUR + 5 * SECOND, world.stopRuntime);
        at(HOUR + 25 * SECOND, world.startRuntime);
        at(1.5 * HOUR, world.reboot);
      },
      () => undefined,
    );

    const replayed = await played(lines);

    expect(renderReplay(replayed)).toContain('equal: all is decided as it was then');
    expect(replayed.decisions).toBeGreaterThan(2_000);
    expect(replayed.lasted).toBeGreaterThan(1.99 * HOUR);
  });

  it('replays equal over clocks that are set forth and back', async () => {
    let set = 0;
    const { tape, lines } = recording(() => asyncScheduler.now() - set);
    live(
      { tape, containerBehaviour: crashes },
      ({ agent, at, setClock }) => {
        agent(folder([0, [pod('b', { containers: ['main', 'crash'] })]]), 0, HOUR / 2);
        for (const [when, by] of [
          [60 * SECOND, HOUR],
          [300 * SECOND, -2 * HOUR],
        ] as const) {
          at(when, () => {
            set += by;
            setClock(by);
          });
        }
      },
      () => undefined,
    );
    expect(lines.filter((line) => line.includes('"k":"clock"'))).toHaveLength(2);
    expect(renderReplay(await played(lines))).toContain('equal');
  });

  it('replays up to where it was cut off, wherever that was', async () => {
    const lines = story();
    for (let length = 1; length < lines.length; length += 37) {
      expect(renderReplay(await played(lines.slice(0, length)))).toContain('equal');
    }
  });

  it('replays only its beginning where that is asked for', async () => {
    const replayed = await played(story(), 30 * SECOND);
    expect(replayed.divergence).toBeUndefined();
    expect(replayed.lasted).toBeLessThanOrEqual(30 * SECOND);
    expect(replayed.lasted).toBeGreaterThan(20 * SECOND);
  });

  it('holds nothing of a Secret, and replays equal all the same', async () => {
    const { tape, lines } = recording();
    const first = aSecret('login', { user: 'birch', password: 'oak-4711\n', pin: 'q7' });
    const edited = aSecret('login', { user: 'birch', password: 'elm-4711 "quoted"', pin: 'q7' });
    const config = JSON.stringify({
      auths: { 'registry.local': { auth: Buffer.from('ash-user:ash-4711').toString('base64') } },
    });
    const pull = aSecret('pull', { '.dockerconfigjson': config });
    live(
      { tape, containerBehaviour: ({ name }) => (name === 'main' ? {} : { terminationMessage: 'no oak-4711 here' }) },
      ({ agent }) => {
        agent(said([user()], [0, [first, pull]], [20 * SECOND, [edited, pull]]), 0, 90 * SECOND);
      },
      (world) => {
        const envs = world.calls.filter(({ name }) => name === 'CreateContainer').map(({ request }) => request);
        expect(JSON.stringify(envs)).toContain('elm-4711');
      },
    );
    const text = lines.join('\n');
    const values = ['birch', 'oak-4711', 'elm-4711', 'ash-4711', 'ash-user', '"q7"'];
    const forms = values.flatMap((value) => [value, Buffer.from(value).toString('base64').replace(/=+$/, '')]);
    expect(forms.filter((form) => text.includes(form))).toEqual([]);
    expect(text).toMatch(/masked-[0-9a-f]{12}/);
    expect(renderReplay(await played(lines))).toContain('equal');
  });
});

describe('the replay of a recording that another agent made', () => {
  const mutants: readonly (readonly [string, (tape: Tape) => Tape, RegExp])[] = [
    [
      'has another back-off',
      ({ context, ...tape }) => ({
        ...tape,
        context: (of) => context({ ...of, backoff: { ...of.backoff, initial: 20_000 } }),
      }),
      /default\/b\n {2}then: the outcome is synced, next turn in 1\d\..* s\n {2}now: {2}the outcome is synced, next turn in [4-9]\..* s/,
    ],
    [
      'grants no grace',
      ({ context, ...tape }) => ({
        ...tape,
        context: (of) => {
          const recorded = context(of);
          const { stopContainer } = recorded.cri;
          return {
            ...recorded,
            cri: { ...recorded.cri, stopContainer: (request) => stopContainer({ ...request, timeout: 0 }) },
          };
        },
      }),
      /default\/a\n {2}then: it called cri.stopContainer\n.*another question\n {2}\[0\]\.timeout\n {4}- 0\n {4}\+ 30/,
    ],
    [
      'cleans nothing up',
      (tape) => ({ ...tape, actions: (actions) => tape.actions(withoutCleanUp(actions)) }),
      /default\/a\n {2}then: the outcome is cleanedUp\n {2}now: {2}it calls cri.listPodSandbox, cri.listContainers first/,
    ],
    [
      'forgets what it told of a pod',
      ({ turned, ...tape }) => ({
        ...tape,
        turned: (before, event, page) => {
          const entries = new Map(
            [...page.book.entries].map(([uid, { status: _, ...entry }]) => [uid, entry] as const),
          );
          turned(before, event, { ...page, book: { ...page.book, entries: entries } });
        },
      }),
      /statuses/,
    ],
  ];

  it.each(mutants)('shows where one parts that %s', async (_, mutate, expected) => {
    const replayed = await played(story(mutate));
    expect(renderReplay(replayed)).toMatch(expected);
    expect(replayed.divergence?.before.length).toBeGreaterThan(0);
  });

  it('shows what is asked now and was not asked then', async () => {
    const lines = story();
    const asked = lines.findIndex((line) => line.includes('"to":"cri.startContainer"'));
    const { n } = JSON.parse(lines[asked] ?? '') as { readonly n: number };
    const without = lines.filter((line) => !new RegExp(`"k":"(?:call|answer|done)","n":${n}[,}]`).test(line));
    expect(renderReplay(await played(without))).toMatch(/now: {2}.*cri\.startContainer/);
  });
});

/** A pod that starts, one that crashes, an edit, an end. */
function story(mutate: (tape: Tape) => Tape = (tape) => tape): readonly string[] {
  const { tape, lines } = recording();
  live(
    { tape: mutate(tape), containerBehaviour: crashes },
    ({ agent }) => {
      const crash = pod('b', { containers: ['main', 'crash'] });
      agent(
        folder(
          [0, [pod('a'), crash]],
          [40 * SECOND, [pod('a', { uid: 'a2', value: 'edited' }), crash]],
          [80 * SECOND, [crash]],
        ),
        0,
        120 * SECOND,
      );
    },
    () => undefined,
  );
  return lines;
}

function withoutCleanUp({ perform }: PodActions): PodActions {
  return {
    perform: (work, memory) =>
      work.kind === 'cleanUp'
        ? of({ kind: 'outcome', uid: work.uid, outcome: { kind: 'cleanedUp', uid: work.uid, work } })
        : perform(work, memory),
  };
}

function probed(): Pod {
  const { metadata, spec } = pod('p');
  const livenessProbe = { exec: { command: ['true'] }, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  return {
    metadata,
    spec: { ...spec, containers: spec.containers.map((container) => ({ ...container, livenessProbe })) },
  };
}

/** Uses a Secret in all ways, and is restarted when it changes. */
function user(): Pod {
  const { metadata, spec } = pod('user', { containers: ['main', 'says'] });
  const secretKeyRef = (key: string): object => ({ valueFrom: { secretKeyRef: { name: 'login', key } } });
  const env = [
    { name: 'PASSWORD', ...secretKeyRef('password') },
    { name: 'PIN', ...secretKeyRef('pin') },
    { name: 'URL', value: 'db://$(PASSWORD)@host' },
  ];
  return {
    metadata: { ...metadata, annotations: { [RESTART_ON_CONFIG_CHANGE]: 'true' } },
    spec: {
      ...spec,
      imagePullSecrets: [{ name: 'pull' }],
      volumes: [{ name: 'login', secret: { secretName: 'login' } }],
      containers: spec.containers.map((container) => ({
        ...container,
        image: 'registry.local/app:1',
        env,
        envFrom: [{ secretRef: { name: 'login' } }],
        command: ['app', '--password=$(PASSWORD)'],
        volumeMounts: [{ name: 'login', mountPath: '/login' }],
      })),
    },
  };
}

function said(
  pods: readonly Pod[],
  ...script: readonly (readonly [number, readonly LocalObject[]])[]
): Observable<Desired> {
  const steps = script.map(([at, objects], index) =>
    timer(at - (script[index - 1]?.[0] ?? 0)).pipe(
      map((): Desired => ({ source: 'file', pods, objects, problems: [] })),
    ),
  );
  return concat(...steps, NEVER);
}

function recording(monotonic: () => number = now): { readonly tape: Tape; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const tape = recorder({ write: (line) => lines.push(line), now, monotonic, version: '1', seed: 7, key: 'k' });
  return { tape, lines };
}

function now(): number {
  return asyncScheduler.now();
}

function played(lines: readonly string[], until?: number): Promise<Replayed> {
  const [header, ...rest] = lines.map((line) => JSON.parse(line) as unknown);
  const part = { header: header as Header, first: 2, lines: rest as readonly Line[], isCut: false };
  return lastValueFrom(replay(of(part), 'a file', until));
}
