import { defer, tap, type Observable } from 'rxjs';
import type { ObjectSet } from '../../model/objects/object-set.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import type { BookEvent } from '../../streams/book/pod-book.ts';
import { identityIn } from '../../streams/trace/trace-page.ts';
import { decisionIn, decisionsOf } from './decisions.ts';
import { definitions } from './definitions.ts';
import { groundOf } from './ground-of.ts';
import { learnSecrets } from './learn-secrets.ts';
import { FORMAT, type Header, type TimedLine } from './line.ts';
import { secretMask } from './mask-secrets.ts';
import { recordCalls } from './record-calls.ts';
import type { Tape } from './tape.ts';
import { valueWriter } from './value-writer.ts';

export interface RecorderPorts {
  /** Takes one line, without its end. Quick, and never throws. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970; stands still while one thing that was heard is acted upon. */
  readonly now: () => number;
  /** Milliseconds since some moment, by a clock that never jumps. */
  readonly monotonic: () => number;
  readonly version: string;
  /** From which all jitter comes while it is recorded. */
  readonly seed: number;
  /** Known to nobody: without it no secret can be guessed from its stand-in. */
  readonly key: Uint8Array | string;
}

/** Milliseconds by which the clocks may drift apart before that is worth a line. */
const DRIFT = 50;

/** Puts down what the agent hears and what it decides, in the order in which that happens. */
export function recorder({ write, now, monotonic, version, seed, key }: RecorderPorts): Tape {
  const mask = secretMask(key);
  const define = definitions((n, text) => {
    write(`{"k":"def","n":${n},"v":${text}}`);
  });
  const textOf = valueWriter({ mask: mask.text, maskBytes: mask.bytes, define });
  const valueOf = (value: unknown): string => textOf(value) ?? 'null';
  const looked = new WeakMap<object, number>();
  let begun = 0;
  let ids = 0;
  let ahead = 0;

  /** `values` are JSON already; they are made before the line is begun, since they may define something. */
  function line(
    k: TimedLine['k'],
    plain: Readonly<Record<string, unknown>>,
    values: Readonly<Record<string, string | undefined>> = {},
  ): void {
    const t = now() - begun;
    const drift = monotonic() - (t + begun + ahead);
    if (Math.abs(drift) > DRIFT) {
      ahead += drift;
      write(`{"t":${t},"k":"clock","ahead":${ahead}}`);
    }
    const fields = Object.entries(values).flatMap(([name, text]) => (text === undefined ? [] : `,"${name}":${text}`));
    write(`${JSON.stringify({ t, k, ...plain }).slice(0, -1)}${fields.join('')}}`);
  }

  const { learn, follow, forget } = learnSecrets(mask);
  const calls = recordCalls({ line, textOf, masked: (value) => learn(value as ObjectSet) });
  const { port } = calls;

  return {
    begin: ({ context, book, kept }) => {
      begun = now();
      ahead = monotonic() - begun;
      const { nodeName: node } = context.facts;
      const head = { recording: FORMAT, rxlet: version, at: begun, node, seed, clock: ahead } as const;
      const ground = groundOf(context, book, kept);
      const whole = valueWriter({ mask: mask.text });
      write(`${JSON.stringify(head satisfies Omit<Header, 'ground'>).slice(0, -1)},"ground":${whole(ground) ?? ''}}`);
    },
    port,
    context: ({
      cri,
      files,
      mounts,
      volumeFiles,
      userNamespaces,
      images,
      http,
      objects$,
      cgroups,
      forgetTask,
      ...rest
    }) => ({
      ...rest,
      cri: port('cri', cri),
      files: port('files', files),
      mounts: port('mounts', mounts),
      volumeFiles: port('volumeFiles', volumeFiles),
      userNamespaces: port('userNamespaces', userNamespaces),
      images: port('images', images),
      http: port('http', http),
      objects$: port('objects$', objects$),
      ...(cgroups && { cgroups: port('cgroups', cgroups) }),
      ...(forgetTask && { forgetTask: port('forgetTask', forgetTask) }),
      monotonic: () => now() + ahead,
      random: seededRandom(seed),
    }),
    objects: (objects$) => objects$.pipe(tap(learn)),
    looks: ({ listPods, observePod }) => {
      function look<Seen extends object>(look$: Observable<Seen>, of: Readonly<Record<string, unknown>> = {}) {
        return defer(() => {
          const id = ++ids;
          calls.goesOn(id);
          line('look', { id, ...of });
          return look$.pipe(
            tap({
              next: (seen) => {
                looked.set(seen, id);
                line('seen', { id });
              },
              error: () => {
                line('blind', { id });
              },
              unsubscribe: () => {
                line('unseen', { id });
              },
            }),
          );
        });
      }
      return {
        listPods: () =>
          look(listPods()).pipe(
            tap((snapshot) => {
              const id = looked.get(snapshot);
              if (id !== undefined) for (const pod of snapshot.pods.values()) looked.set(pod, id);
            }),
          ),
        observePod: (uid, listed) => {
          const from = listed && looked.get(listed);
          return look(observePod(uid, listed), { uid, ...(from !== undefined && { listed: from }) });
        },
      };
    },
    actions: ({ perform }) => ({
      perform: (work, memory) =>
        defer(() => {
          const id = ++ids;
          const { uid, namespace, name } = identityIn(work);
          calls.goesOn(id);
          if (work.kind === 'sync') follow(work.pod);
          else if (work.kind === 'cleanUp') forget(uid);
          line('begin', { id, uid, pod: `${namespace}/${name}`, work: work.kind });
          return perform(work, memory).pipe(
            tap({
              next: (report) => {
                if (report.kind === 'outcome') looked.set(report.outcome, id);
                line('report', { id }, { report: valueOf(decisionIn(report)) });
              },
              complete: () => {
                line('end', { id });
              },
              unsubscribe: () => {
                line('cut', { id });
              },
            }),
          );
        }),
    }),
    probe: (probe) => (target, asked) => {
      const { uid, container, kind } = target;
      const of = { uid, container: container.name, probe: kind };
      return probe(target, asked).pipe(
        tap({
          next: (answer) => {
            line('probe', of, { answer: valueOf(answer) });
          },
          error: (error: unknown) => {
            line('probe', of, { error: valueOf(error) });
          },
        }),
      );
    },
    turned: (before, event, page) => {
      const [heardEvent, decided] = [valueOf(eventOf(event)), valueOf(decisionsOf(before, page))];
      line('page', {}, { event: heardEvent, decided });
    },
  };

  /** What was seen by a look, and what came of work, is told by the number of that. */
  function eventOf(event: BookEvent): unknown {
    switch (event.kind) {
      case 'snapshot':
        return toldBy(event, event.snapshot);
      case 'sighting':
        return toldBy(event, event.pod);
      case 'outcome':
        return { kind: event.kind, uid: event.outcome.uid, id: looked.get(event.outcome) };
      default:
        return event;
    }
  }

  function toldBy(event: BookEvent, seen: object): unknown {
    const id = looked.get(seen);
    return id === undefined ? event : { kind: event.kind, ...('uid' in seen && { uid: seen.uid }), id };
  }
}
