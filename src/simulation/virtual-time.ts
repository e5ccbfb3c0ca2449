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

interface Due {
  readonly at: number;
  /** Who came first is done first. */
  readonly nth: number;
  readonly run: () => void;
  isWanted: boolean;
}

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
    let planned: Due | undefined;
    const action = Object.assign(new Subscription(drop), { schedule: again });

    function drop(): void {
      if (planned) queue.drop(planned);
      planned = undefined;
    }

    function again(next?: T, wait = 0): Subscription {
      if (action.closed) return action;
      drop();
      count += 1;
      planned = {
        at: passed + Math.max(0, wait),
        nth: count,
        isWanted: true,
        run: () => {
          planned = undefined;
          work.call(action, next);
        },
      };
      queue.add(planned);
      return action;
    }

    return again(state, delay);
  }

  function within<T>(act: () => T): T {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are put back as they were
    const real = { now: asyncScheduler.now, schedule: asyncScheduler.schedule };
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

/** Fewer than these are not worth being sorted out. */
const FEW = 1_024;

interface DueQueue {
  readonly add: (due: Due) => void;
  /** Takes out the first that is wanted and due by then. */
  readonly take: (by: number) => Due | undefined;
  /** It is not to be done. */
  readonly drop: (due: Due) => void;
}

/** A binary heap. What is not wanted any more is left in it until it comes up, or makes up half of it. */
function dueQueue(): DueQueue {
  let heap: Due[] = [];
  let dropped = 0;

  function add(due: Due): void {
    let place = heap.push(due) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (!other || isBefore(other, due)) break;
      heap[place] = other;
      place = above;
    }
    heap[place] = due;
  }

  function removeFirst(): void {
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      if (!a) break;
      const isRight = b !== undefined && isBefore(b, a);
      const child = isRight ? b : a;
      if (isBefore(last, child)) break;
      heap[place] = child;
      place = isRight ? left + 1 : left;
    }
    heap[place] = last;
  }

  return {
    add,
    take: (by) => {
      for (;;) {
        const [first] = heap;
        if (!first || first.at > by) return undefined;
        removeFirst();
        if (first.isWanted) return first;
        dropped -= 1;
      }
    },
    drop: (due) => {
      due.isWanted = false;
      dropped += 1;
      if (heap.length < FEW || 2 * dropped < heap.length) return;
      heap = heap.filter(({ isWanted }) => isWanted).toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
      dropped = 0;
    },
  };
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.nth < b.nth);
}
