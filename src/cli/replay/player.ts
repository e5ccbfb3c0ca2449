import { ignoreElements, merge, Subject, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { observer } from '../../runtime/observe.ts';
import { podActions } from '../../runtime/pod-actions.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import { virtualTime } from '../../simulation/virtual-time.ts';
import { revisions } from '../../streams/pleg/revisions.ts';
import type { PodOutcome, PodWork } from '../../streams/workers/pod-work.ts';
import { decisionIn } from '../recording/decisions.ts';
import type { Ground, Header, TimedLine } from '../recording/line.ts';
import { valueReader } from '../recording/value-reader.ts';
import { valueWriter } from '../recording/value-writer.ts';
import { asksOf, type Ask, type Asker } from './asks.ts';
import { differences } from './differences.ts';
import { parting, summaryOf, type Parting } from './parting.ts';
import { playedBook } from './played-book.ts';
import { playedLooks } from './played-looks.ts';
import { playedPorts } from './played-ports.ts';
import { playedWorks, type Act } from './played-works.ts';

export interface Player {
  /** The agent that decides now; it has to be subscribed to before the first line is played. Emits nothing. */
  readonly live$: Observable<never>;
  readonly define: (number: number, written: unknown) => void;
  readonly read: (written: unknown) => unknown;
  /** Plays one line; tells where it parts from what is decided now. Throws where a line cannot be understood. */
  readonly play: (line: { readonly t: number } & TimedLine) => Parting | undefined;
  /** The pod that a line is about, as far as it is about one; to be asked once it was played. */
  readonly podOf: (line: TimedLine) => string | undefined;
}

/** Milliseconds by which a timer may have fired before its time when it was recorded. */
const EARLY = 5;
/** Milliseconds by which it may have been late. */
const LATE = 2_000;

/**
 * Runs the deciding parts of this version of the agent on what another one heard: the book, the lanes of the workers,
 * the work on pods with all its steps, and the looks at the runtime. They run in lock-step with the recording: whatever
 * they ask or tell waits until the recording comes to the same, so that it does not matter which of two things that
 * happened at the same time was first.
 */
export function player(header: Header): Player {
  const { define, read } = valueReader();
  const write = valueWriter({});
  const plain = (value: unknown): unknown => JSON.parse(write(value) ?? 'null') as unknown;
  const ground = read(header.ground) as Ground;
  const time = virtualTime(header.at);
  /** By how much somebody has set the clock since. */
  let set = 0;

  const asks = asksOf();
  /** What has begun now, and the recording has not come to yet. */
  const begun: Act[] = [];
  const acts = new Map<number, Act>();
  /** Of works and looks. */
  const pods = new Map<number, string>();
  const outcomes = new Map<number, PodOutcome>();
  let current: Asker | undefined;
  /** Work was cut short that is not cut short now; of no account where that was the end of the agent. */
  let uncut: Parting | undefined;

  const counter = revisions();
  const ports = playedPorts(ground.has, (to, args) => ({ to, args, at: time.now(), of: current }), asks.add);
  const look = observer(ports.cri, ports.files, counter, ground.book.hostIps);
  const looks = playedLooks(look);
  const actions = podActions(look, {
    ...ground,
    ...ports,
    revisions: counter,
    monotonic: () => header.at + header.clock + time.passed(),
    random: seededRandom(header.seed),
  });
  const works = new Subject<PodWork>();
  const report$ = playedWorks(works, actions, ground.kept, time.now, (act) => {
    begun.push(act);
    current = act;
  });
  const book = playedBook(ground, looks.seen, (id) => {
    const outcome = outcomes.get(id);
    outcomes.delete(id);
    return outcome;
  });

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
        pods.set(line.id, line.uid === undefined ? 'all pods' : (book.nameOf(line.uid) ?? line.uid));
        current = { pod: pods.get(line.id) ?? '', doing: 'a look at the runtime' };
        looks.start(line.id, line.uid, line.listed);
        return undefined;
      case 'seen':
        if (!inTime(() => looks.seen(line.id) !== undefined))
          return parting(pods.get(line.id), 'the look was over', waiting(line.id));
        pods.delete(line.id);
        return undefined;
      case 'blind':
      case 'unseen':
        looks.end(line.id);
        pods.delete(line.id);
        return undefined;
      case 'begin':
        return begin(line);
      case 'report':
        return report(line);
      case 'end':
        return end(line.id);
      case 'cut':
        if (acts.get(line.id)?.isCut !== true)
          uncut ??= parting(pods.get(line.id), 'the work was cut short by a stronger one', 'it goes on');
        forget(line.id);
        return undefined;
      case 'call':
        return call(line);
      case 'answer':
      case 'error':
      case 'done':
      case 'dropped':
      case 'wants':
        asks.play(line, read, (of) => {
          current = of;
        });
        return undefined;
      case 'clock':
      case 'probe':
        return undefined;
    }
  }

  function turn({ event, decided }: Extract<TimedLine, { k: 'page' }>): Parting | undefined {
    let turned: ReturnType<typeof book.turn>;
    try {
      turned = book.turn(read(event), time.now());
    } catch (error) {
      if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
      return parting(book.lastPod(), 'it decided', `it fails: ${messageOf(error)}`);
    }
    if (!turned) return parting(undefined, 'the runtime had been seen', 'it has not');
    const found = differences(plain(read(decided)), plain(turned.decided));
    for (const work of turned.work) works.next(work);
    if (found.length === 0) return undefined;
    const [name] = /[^ .[\]]+\/[^ .[\]]+/.exec(found[0]?.path ?? '') ?? [];
    return parting(name ?? book.lastPod(), 'it decided so', 'it decides otherwise', found);
  }

  function begin({ id, uid, pod, work }: Extract<TimedLine, { k: 'begin' }>): Parting | undefined {
    pods.set(id, pod);
    const isIt = (one: Act): boolean => one.work.uid === uid && one.work.kind === work;
    inTime(() => begun.some(isIt));
    const act = begun.find(isIt);
    if (!act) {
      const others = begun.filter((one) => one.work.uid === uid).map(({ doing }) => doing);
      return parting(pod, `${work} begins`, `${others.length > 0 ? others.join(', ') : 'nothing'} begins`);
    }
    begun.splice(begun.indexOf(act), 1);
    acts.set(id, act);
    return undefined;
  }

  function report({ id, report: written }: Extract<TimedLine, { k: 'report' }>): Parting | undefined {
    const act = acts.get(id);
    const then = plain(read(written));
    if (act?.isCut === true) return parting(act.pod, summaryOf(then), 'the work has been cut short by a stronger one');
    inTime(() => (act?.told.length ?? 0) > 0);
    const told = act?.told.shift();
    if (!act || !told) return parting(pods.get(id), summaryOf(then), waiting(id));
    const now = plain(decisionIn(told));
    const found = differences(then, now);
    if (found.length > 0) return parting(act.pod, summaryOf(then), summaryOf(now), found);
    if (told.kind === 'outcome') outcomes.set(id, told.outcome);
    act.reports.next(told);
    return undefined;
  }

  function end(id: number): Parting | undefined {
    const act = acts.get(id);
    forget(id);
    if (!act) return undefined;
    const [more] = act.told;
    if (more) return parting(act.pod, `${act.doing} was over`, summaryOf(plain(decisionIn(more))));
    if (!act.isDone) return parting(act.pod, `${act.doing} was over`, 'it goes on');
    act.end.next(undefined);
    return undefined;
  }

  function forget(id: number): void {
    acts.delete(id);
    pods.delete(id);
  }

  function call({ n, to, args: written, id }: Extract<TimedLine, { k: 'call' }>): Parting | undefined {
    const args = read(written);
    if (inTime(() => asks.match(n, to, args))) return undefined;
    const pod = id === undefined ? undefined : pods.get(id);
    const near = openOf(id);
    const then = `it called ${to}`;
    const alike = near.find((one) => one.to === to);
    if (alike) {
      const found = differences(plain(args), plain(alike.args));
      return parting(pod, then, 'it calls the same with another question', found);
    }
    const [more] = (id === undefined ? undefined : acts.get(id))?.told ?? [];
    if (more) return parting(pod, then, summaryOf(plain(decisionIn(more))));
    const [other] = near;
    const found = differences({ args: plain(args) }, other ? { args: plain(other.args) } : {});
    return parting(pod, then, `it calls ${other?.to ?? 'nothing'}`, found);
  }

  /** What is asked or begun now and was not then: it would have been recorded long since. */
  function overdue(): Parting | undefined {
    const before = time.now() - LATE;
    const ask = asks.open().find(({ isOver, at }) => !isOver && at < before);
    if (ask) {
      const found = differences({}, { args: plain(ask.args) });
      return parting(ask.of?.pod, 'nothing was called', `it calls ${ask.to}`, found);
    }
    const act = begun.find(({ isCut, at }) => !isCut && at < before);
    return act && parting(act.pod, 'no work began', `${act.doing} begins`);
  }

  /** Whether it is so now, or would be a moment later. */
  function inTime(isSo: () => boolean): boolean {
    if (isSo()) return true;
    time.passTo(time.passed() + EARLY);
    return isSo();
  }

  /** What is asked by the same work or, where that is not known, for the same pod. */
  function openOf(id: number | undefined): readonly Ask[] {
    const act = id === undefined ? undefined : acts.get(id);
    const pod = id === undefined ? undefined : pods.get(id);
    return asks.open().filter(({ of }) => (act ? of === act : pod === undefined || of?.pod === pod));
  }

  function waiting(id: number): string {
    const calls = [...new Set(openOf(id).map(({ to }) => to))];
    return calls.length > 0 ? `it calls ${calls.join(', ')} first` : 'it tells nothing';
  }

  return {
    live$: merge(report$, looks.look$, asks.wanted$).pipe(ignoreElements()),
    define,
    read,
    play,
    podOf: (line) => {
      if ('n' in line) return asks.askerOf(line.n)?.pod;
      if ('id' in line) return pods.get(line.id);
      if ('uid' in line) return book.nameOf(line.uid);
      return line.k === 'page' ? book.lastPod() : undefined;
    },
  };
}
