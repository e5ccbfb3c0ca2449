import { asyncScheduler, Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs';

/** A time of its own for everything that asks RxJS for the time: it passes when it is told to, and as fast as the work allows. */
export interface VirtualTime {
  /** What the clock tells, in milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that have passed, whatever the clock was set to. */
  readonly passed: () => number;
  /** Does what is due up to so many milliseconds from the beginning, in order, and comes to stand there. */
  readonly passTo: (passed: number) => void;
  /** Does everything that is due until nothing is left, which may be never. */
  readonly passToEnd: () => void;
  /** Somebody sets the clock, by so many milliseconds from what it tells now; timers go on as before. */
  readonly setClock: (by: number) => void;
  /** While `act` runs, RxJS's time is this one. What it subscribes to stays in this time. */
  readonly within: <T>(act: () => T) => T;
  /** For `subscribeOn`: what is subscribed so begins when time passes, and lives in it. */
  readonly scheduler: SchedulerLike;
}

/** What is to be done at a moment; one of them serves an action for as long as that lives. */
interface Due {
  at: number;
  /** Who came first is done first. */
  nth: number;
  /** In the queue; {@link NOWHERE} when it is not in it. */
  place: number;
  readonly run: () => void;
}

const NOWHERE = -1;

/**
 * A clock that begins at `start` (milliseconds since 1970). It takes the place of that of `asyncScheduler`, which all
 * operators ask, only while time passes or within `within`; so a process may live in its own time beside it.
 *
 * Costs little for each timer, however many there are: a day of a busy node has millions.
 */
export function virtualTime(start = 0): VirtualTime {
  const queue = dueQueue();
  let passed = 0;
  let set = 0;
  let count = 0;

  const now = (): number => start + passed + set;

  function schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription {
    let latest = state;
    const due: Due = {
      at: 0,
      nth: 0,
      place: NOWHERE,
      run: () => {
        work.call(action, latest);
      },
    };
    const action = new Subscription(() => {
      queue.drop(due);
    }) as SchedulerAction<T>;
    action.schedule = (next, wait = 0) => {
      if (action.closed) return action;
      latest = next;
      count += 1;
      queue.add(due, passed + Math.max(0, wait), count);
      return action;
    };
    return action.schedule(state, delay);
  }

  function within<T>(act: () => T): T {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are put back as they were
    const real = { now: asyncScheduler.now, schedule: asyncScheduler.schedule };
    if (real.now === now) return act();
    Object.assign(asyncScheduler, { now, schedule });
    try {
      return act();
    } finally {
      Object.assign(asyncScheduler, real);
    }
  }

  function passTo(end: number): void {
    within(() => {
      for (let next = queue.take(end); next; next = queue.take(end)) {
        passed = Math.max(passed, next.at);
        next.run();
      }
    });
    if (Number.isFinite(end)) passed = Math.max(passed, end);
  }

  return {
    now,
    passed: () => passed,
    passTo,
    passToEnd: () => {
      passTo(Number.POSITIVE_INFINITY);
    },
    setClock: (by) => {
      set += by;
    },
    within,
    scheduler: { now, schedule },
  };
}

interface DueQueue {
  /** It is to be done then; should it be planned already, not before. */
  readonly add: (due: Due, at: number, nth: number) => void;
  /** The first that is due by then; it is out of the queue when the next one is taken, unless it was planned anew. */
  readonly take: (by: number) => Due | undefined;
  /** It is not to be done. */
  readonly drop: (due: Due) => void;
}

/**
 * A binary heap whose members know their places, so that one that is not wanted any more is taken out of it. What is taken
 * stays at its top until the next one is: mostly it is planned anew meanwhile, and only has to sink.
 */
function dueQueue(): DueQueue {
  const heap: Due[] = [];
  let taken: Due | undefined;

  function put(due: Due, place: number): void {
    heap[place] = due;
    due.place = place;
  }

  function rise(due: Due, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (!other || isBefore(other, due)) break;
      put(other, place);
      place = above;
    }
    put(due, place);
  }

  function sink(due: Due, from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const a = heap[left];
      const b = heap[left + 1];
      if (!a) break;
      const child = b && isBefore(b, a) ? b : a;
      if (isBefore(due, child)) break;
      const free = child.place;
      put(child, place);
      place = free;
    }
    put(due, place);
  }

  /** Where it belongs, when it stands there or there is a gap. */
  function settle(due: Due, place: number): void {
    const above = heap[(place - 1) >> 1];
    if (place > 0 && above && isBefore(due, above)) rise(due, place);
    else sink(due, place);
  }

  function add(due: Due, at: number, nth: number): void {
    if (due === taken) taken = undefined;
    due.at = at;
    due.nth = nth;
    if (due.place === NOWHERE) rise(due, heap.length);
    else settle(due, due.place);
  }

  function drop(due: Due): void {
    if (due === taken) taken = undefined;
    const { place } = due;
    if (place === NOWHERE) return;
    due.place = NOWHERE;
    const last = heap.pop();
    if (last && last !== due) settle(last, place);
  }

  function take(by: number): Due | undefined {
    if (taken) drop(taken);
    const first = heap[0];
    if (!first || first.at > by) return undefined;
    taken = first;
    return first;
  }

  return { add, take, drop };
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.nth < b.nth);
}
