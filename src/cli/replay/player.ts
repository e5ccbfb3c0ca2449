import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  merge,
  mergeMap,
  NEVER,
  Subject,
  takeUntil,
  tap,
  type Observable,
} from 'rxjs';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';
import { observer } from '../../runtime/observe.ts';
import { podActions } from '../../runtime/pod-actions.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import { virtualTime } from '../../simulation/virtual-time.ts';
import { emptyBook, type BookEvent, type Page } from '../../streams/book/pod-book.ts';
import { turnPage } from '../../streams/book/turn-page.ts';
import { memoryOf } from '../../streams/checkpoints/checkpoints.ts';
import { revisions } from '../../streams/pleg/revisions.ts';
import { identityIn } from '../../streams/trace/trace-page.ts';
import type { PodOutcome, PodReport, PodWork } from '../../streams/workers/pod-work.ts';
import { podWorkers } from '../../streams/workers/pod-workers.ts';
import { decisionIn, decisionsOf } from '../recording/decisions.ts';
import type { Ground, Header, TimedLine } from '../recording/line.ts';
import { valueReader } from '../recording/value-reader.ts';
import { valueWriter } from '../recording/value-writer.ts';
import { differences, type Difference } from './differences.ts';
import { playedPorts, type Ask, type Asker } from './played-ports.ts';

/** Where what is decided now is not what was decided then. */
export interface Parting {
  /** The pod that it is about, as `namespace/name`; absent: none alone. */
  readonly pod?: string;
  /** A sentence each. */
  readonly then: string;
  readonly now: string;
  readonly differences: readonly Difference[];
}

export interface Player {
  /** The agent that decides now; it has to be subscribed to before the first line is played. Emits nothing. */
  readonly live$: Observable<never>;
  readonly define: (number: number, written: unknown) => void;
  /** Plays one line; tells where it parts from what is decided now. Throws where a line cannot be understood. */
  readonly play: (line: { readonly t: number } & TimedLine) => Parting | undefined;
  /** The pod that a line is about, as far as it is about one; to be asked once it was played. */
  readonly podOf: (line: TimedLine) => string | undefined;
  readonly read: (written: unknown) => unknown;
}

/** Milliseconds by which a timer may have fired before its time when it was recorded. */
const EARLY = 5;
/** Milliseconds by which it may have been late. */
const LATE = 2_000;
/** Looks of which it is remembered what they saw. */
const MOST_LOOKS = 1_000;

/** A work that goes on now; what it tells waits until the recording comes to it. */
interface Act extends Asker {
  readonly at: number;
  readonly work: PodWork;
  readonly told: PodReport[];
  readonly reports: Subject<PodReport>;
  readonly end: Subject<undefined>;
  isDone: boolean;
  isCut: boolean;
}

/**
 * Runs the deciding parts of this version of the agent on what another one heard: the book, the lanes of the workers,
 * the work on pods with all its steps, and the looks at the runtime. They run in lock-step with the recording: whatever
 * they ask or tell waits until the recording comes to the same, so that it does not matter which of two things that
 * happened at the same time was first.
 */
export function player(header: Header): Player {
  const { define, read } = valueReader();
  const ground = read(header.ground) as Ground;
  const time = virtualTime(header.at);
  /** By how much somebody has set the clock since. */
  let set = 0;
  const write = valueWriter({});
  const plain = (value: unknown): unknown => JSON.parse(write(value) ?? 'null') as unknown;

  const asks: Ask[] = [];
  const calls = new Map<number, Ask>();
  const begun: Act[] = [];
  const acts = new Map<number, Act>();
  const pods = new Map<number, string>();
  const outcomes = new Map<number, PodOutcome>();
  const seen = new Map<number, ObservedPod | Snapshot>();
  let current: Asker | undefined;
  /** The pod that the last page was about. */
  let last: string | undefined;
  /** Work was cut short that is not cut short now; of no account where that was the end of the agent. */
  let uncut: Parting | undefined;

  const counter = revisions();
  const played = playedPorts(
    ground.has,
    (to, args) => ({ to, args, at: time.now(), of: current }),
    (ask) => asks.push(ask),
  );
  const look = observer(played.cri, played.files, counter);
  const { perform } = podActions(look, {
    ...ground,
    ...played,
    revisions: counter,
    monotonic: () => header.at + header.clock + time.passed(),
    random: seededRandom(header.seed),
  });

  const works = new Subject<PodWork>();
  const looks = new Subject<{ readonly id: number; readonly look$: Observable<ObservedPod | Snapshot> }>();
  const looksOver = new Subject<number>();
  const wants = new Subject<Observable<unknown>>();

  const lane$ = podWorkers(
    works,
    {
      perform: (work, memory) =>
        defer(() => {
          const { namespace, name } = identityIn(work);
          const act: Act = {
            at: time.now(),
            work,
            pod: `${namespace}/${name}`,
            doing: work.kind,
            told: [],
            reports: new Subject(),
            end: new Subject(),
            isDone: false,
            isCut: false,
          };
          begun.push(act);
          current = act;
          const live$ = perform(work, memory).pipe(
            tap({
              next: (report) => act.told.push(report),
              complete: () => {
                act.isDone = true;
              },
            }),
            ignoreElements(),
          );
          return merge(act.reports, concat(live$, NEVER)).pipe(
            takeUntil(act.end),
            tap({
              unsubscribe: () => {
                act.isCut = true;
              },
            }),
          );
        }),
    },
    new Map(ground.kept.map((one) => [one.uid, memoryOf(one)])),
  );
  const look$ = looks.pipe(
    mergeMap(({ id, look$: one$ }) =>
      one$.pipe(
        tap((what) => seen.set(id, what)),
        catchError(() => EMPTY),
        takeUntil(looksOver.pipe(filter((over) => over === id))),
      ),
    ),
  );
  const wanted$ = wants.pipe(mergeMap((open$) => open$.pipe(catchError(() => EMPTY))));

  const statuses = new Map(ground.kept.flatMap(({ uid, status }) => (status ? [[uid, status] as const] : [])));
  const evictions = new Map(ground.kept.flatMap(({ uid, eviction }) => (eviction ? [[uid, eviction] as const] : [])));
  let page: Page = {
    book: emptyBook({ ...ground.book, statuses, eviction: { backoff: ground.backoff, kept: evictions } }),
    work: [],
    notes: [],
  };

  function play(line: { readonly t: number } & TimedLine): Parting | undefined {
    return time.within(() => {
      if (line.k === 'clock') {
        const by = header.clock - line.ahead;
        time.setClock(by - set);
        set = by;
      }
      time.passTo(line.t - set);
      if (uncut && line.k !== 'cut' && line.k !== 'dropped' && line.k !== 'unseen') return uncut;
      return overdue() ?? follow(line);
    });
  }

  function follow(line: TimedLine): Parting | undefined {
    switch (line.k) {
      case 'page':
        return turn(line);
      case 'look':
        startLook(line);
        return undefined;
      case 'seen':
        return inTime(() => seen.has(line.id)) ? undefined : parting(line.id, 'the look was over', waiting(line.id));
      case 'blind':
      case 'unseen':
        looksOver.next(line.id);
        return undefined;
      case 'begin':
        return begin(line);
      case 'report':
        return report(line);
      case 'end':
        return end(line.id);
      case 'cut':
        if (acts.get(line.id)?.isCut !== true) {
          uncut ??= parting(line.id, 'the work was cut short by a stronger one', 'it goes on');
        }
        acts.delete(line.id);
        return undefined;
      case 'call':
        return call(line);
      case 'answer':
        answer(line.n, (ask) => {
          ask.answer.next(read(line.value));
        });
        return undefined;
      case 'done':
        answer(line.n, (ask) => {
          ask.answer.complete();
        });
        calls.delete(line.n);
        return undefined;
      case 'error':
        answer(line.n, (ask) => {
          ask.answer.error(read(line.error));
        });
        calls.delete(line.n);
        return undefined;
      case 'dropped':
        calls.delete(line.n);
        return undefined;
      case 'wants': {
        const open$ = openIn(calls.get(line.n)?.args ?? []);
        if (open$) wants.next(open$);
        return undefined;
      }
      case 'clock':
      case 'probe':
        return undefined;
    }
  }

  function turn(line: Extract<TimedLine, { k: 'page' }>): Parting | undefined {
    const event = eventOf(read(line.event) as Told);
    if (event === undefined) return { then: 'the runtime had been seen', now: 'it has not', differences: [] };
    const next = turnPage(page, event, time.now());
    last = podIn(event);
    const [then, now] = [plain(read(line.decided)), plain(decisionsOf(page.book, next))];
    const found = differences(then, now);
    page = next;
    for (const work of next.work) works.next(work);
    if (found.length === 0) return undefined;
    const [name] = /[^ .[\]]+\/[^ .[\]]+/.exec(found[0]?.path ?? '') ?? [];
    const pod = name ?? podIn(event);
    return {
      ...(pod !== undefined && { pod }),
      then: 'it decided so',
      now: 'it decides otherwise',
      differences: found,
    };
  }

  function podIn(event: BookEvent): string | undefined {
    if ('uid' in event) return nameOf(event.uid);
    if (event.kind === 'outcome') return nameOf(event.outcome.uid);
    return event.kind === 'sighting' ? nameOf(event.pod.uid) : undefined;
  }

  function nameOf(uid: PodUid): string | undefined {
    const of = page.book.entries.get(uid)?.of;
    return of && `${of.namespace}/${of.name}`;
  }

  function eventOf(told: Told): BookEvent | undefined {
    if (told.id === undefined) return told as unknown as BookEvent;
    if (told.kind === 'outcome') {
      const outcome = outcomes.get(told.id);
      outcomes.delete(told.id);
      return outcome && { kind: 'outcome', outcome };
    }
    const what = seen.get(told.id);
    if (told.kind === 'snapshot') return what && 'pods' in what ? { kind: 'snapshot', snapshot: what } : undefined;
    return what && !('pods' in what) ? { kind: 'sighting', pod: what } : undefined;
  }

  function startLook({ id, uid, listed }: Extract<TimedLine, { k: 'look' }>): void {
    const pod = uid === undefined ? 'all pods' : (nameOf(uid) ?? uid);
    pods.set(id, pod);
    current = { pod, doing: 'a look at the runtime' };
    if (uid === undefined) looks.next({ id, look$: look.listPods() });
    else {
      const before = listed === undefined ? undefined : seen.get(listed);
      looks.next({ id, look$: look.observePod(uid, before && 'pods' in before ? before.pods.get(uid) : undefined) });
    }
    for (const oldest of seen.keys()) {
      if (seen.size <= MOST_LOOKS) break;
      seen.delete(oldest);
      pods.delete(oldest);
    }
  }

  function begin({ id, uid, pod, work }: Extract<TimedLine, { k: 'begin' }>): Parting | undefined {
    pods.set(id, pod);
    const wanted = (one: Act): boolean => one.work.uid === uid && one.work.kind === work;
    inTime(() => begun.some(wanted));
    const act = begun.find(wanted);
    if (act) {
      begun.splice(begun.indexOf(act), 1);
      acts.set(id, act);
      return undefined;
    }
    const others = begun.filter((one) => one.work.uid === uid).map((one) => one.doing);
    return parting(id, `${work} begins`, others.length > 0 ? `${others.join(', ')} begins` : 'nothing begins');
  }

  function report({ id, report: written }: Extract<TimedLine, { k: 'report' }>): Parting | undefined {
    const act = acts.get(id);
    const then = plain(read(written));
    if (act?.isCut === true) return parting(id, summary(then), 'the work has been cut short by a stronger one');
    if (!act || !inTime(() => act.told.length > 0)) return parting(id, summary(then), waiting(id));
    const told = act.told.shift();
    if (!told) return undefined;
    const now = plain(decisionIn(told));
    const found = differences(then, now);
    if (found.length > 0) return { ...parting(id, summary(then), summary(now)), differences: found };
    if (told.kind === 'outcome') outcomes.set(id, told.outcome);
    act.reports.next(told);
    return undefined;
  }

  function end(id: number): Parting | undefined {
    const act = acts.get(id);
    acts.delete(id);
    pods.delete(id);
    if (!act) return undefined;
    const [more] = act.told;
    if (more) return parting(id, `${act.doing} was over`, summary(plain(decisionIn(more))), act);
    if (!act.isDone) return parting(id, `${act.doing} was over`, 'it goes on', act);
    act.end.next(undefined);
    return undefined;
  }

  function call({ n, to, args: written, id }: Extract<TimedLine, { k: 'call' }>): Parting | undefined {
    const args = read(written);
    const text = write(args);
    const isIt = (ask: Ask): boolean =>
      ask.to === to && (write(ask.args) === text || differences(plain(args), plain(ask.args)).length === 0);
    inTime(() => asks.some(isIt));
    const ask = asks.find(isIt);
    if (ask) {
      asks.splice(asks.indexOf(ask), 1);
      calls.set(n, ask);
      return undefined;
    }
    const pod = id === undefined ? undefined : (acts.get(id)?.pod ?? pods.get(id));
    const near = asks.filter((one) => pod === undefined || one.of?.pod === pod);
    const alike = near.find((one) => one.to === to);
    const then = `it called ${to}`;
    const of = pod === undefined ? {} : { pod };
    if (alike) {
      const found = differences(plain(args), plain(alike.args));
      return { ...of, then, now: 'it calls the same with another question', differences: found };
    }
    const act = id === undefined ? undefined : acts.get(id);
    const [next] = act?.told ?? [];
    const now = next ? summary(plain(decisionIn(next))) : `it calls ${near[0]?.to ?? 'nothing'}`;
    const found = differences({ args: plain(args) }, near[0] ? { args: plain(near[0].args) } : {});
    return { ...of, then, now, differences: next ? [] : found };
  }

  function answer(n: number, give: (ask: Ask) => void): void {
    const ask = calls.get(n);
    if (!ask || ask.isOver) return;
    current = ask.of;
    give(ask);
  }

  /** What is asked or begun now and was not then: it would have been recorded long since. */
  function overdue(): Parting | undefined {
    const before = time.now() - LATE;
    const ask = asks.find((one) => !one.isOver && one.at < before);
    if (ask) {
      const of = ask.of ? { pod: ask.of.pod } : {};
      return {
        ...of,
        then: 'nothing was called',
        now: `it calls ${ask.to}`,
        differences: differences({}, { args: plain(ask.args) }),
      };
    }
    const act = begun.find((one) => !one.isCut && one.at < before);
    return act && { pod: act.pod, then: 'no work began', now: `${act.doing} begins`, differences: [] };
  }

  /** Whether it is so now, or would be a moment later. */
  function inTime(isSo: () => boolean): boolean {
    if (isSo()) return true;
    time.passTo(time.passed() + EARLY);
    return isSo();
  }

  function waiting(id: number): string {
    const pod = acts.get(id)?.pod ?? pods.get(id);
    const open = [...new Set(asks.filter((ask) => ask.of?.pod === pod).map(({ to }) => to))];
    return open.length > 0 ? `it calls ${open.join(', ')} first` : 'it tells nothing';
  }

  function parting(id: number, then: string, now: string, act = acts.get(id)): Parting {
    const pod = act?.pod ?? pods.get(id);
    return { ...(pod !== undefined && { pod }), then, now, differences: [] };
  }

  return {
    live$: merge(lane$, look$, wanted$).pipe(ignoreElements()),
    define,
    play,
    podOf: (line) => {
      if ('n' in line) return calls.get(line.n)?.of?.pod;
      if ('id' in line) return pods.get(line.id);
      if ('uid' in line) return nameOf(line.uid);
      return line.k === 'page' ? last : undefined;
    },
    read,
  };
}

type Told = { readonly kind: string; readonly id?: number };

/** What the question of a call leaves open (`images.pull`, `images.status`). */
function openIn(args: readonly unknown[]): Observable<unknown> | undefined {
  for (const arg of args) {
    if (typeof arg !== 'object' || arg === null) continue;
    const of: object = 'pod' in arg && typeof arg.pod === 'object' && arg.pod ? arg.pod : arg;
    if ('sandbox$' in of) return of.sandbox$ as Observable<unknown>;
  }
  return undefined;
}

/** A report in a sentence. */
function summary(decision: unknown): string {
  const { note, starting, outcome } = decision as {
    readonly note?: { readonly reason: string; readonly message: string };
    readonly starting?: string;
    readonly outcome?: { readonly kind: string; readonly next?: number; readonly error?: string };
  };
  if (note) return `it told ${note.reason}: ${note.message}`;
  if (starting !== undefined) return `it starts ${starting}`;
  const { kind = '', next, error } = outcome ?? {};
  const [when, why] = [
    next === undefined ? '' : `, next turn in ${next / 1_000} s`,
    error === undefined ? '' : `: ${error}`,
  ];
  return `the outcome is ${kind}${why}${when}`;
}
