import type { PodChange } from '../model/desired.ts';
import type { Pod, PodUid, SourceName } from '../model/pod.ts';
import {
  NOTHING_STOPPED,
  type PodCommand,
  type PodReply,
  type StopMemory,
  type StoppedPod,
} from '../model/pod-command.ts';

/** What the sources want, and what of it is stopped by hand. */
export interface Hold {
  readonly wanted: ReadonlyMap<PodUid, Wanted>;
  readonly stopped: ReadonlyMap<PodUid, StoppedPod>;
}

interface Wanted {
  readonly source: SourceName;
  readonly pod: Pod;
}

export interface Held {
  readonly hold: Hold;
  /** What is left to act on. */
  readonly changes: readonly PodChange[];
}

export function initialHold({ stopped }: StopMemory = NOTHING_STOPPED): Hold {
  return { wanted: new Map(), stopped: new Map(stopped.map((one) => [one.uid, one])) };
}

/**
 * Takes in what the sources have changed. What is stopped is not told on; a pod that is updated or gone is not stopped
 * any more.
 */
export function holdBack({ wanted: before, stopped: held }: Hold, batch: readonly PodChange[]): Held {
  const wanted = new Map(before);
  const stopped = new Map(held);
  const changes = batch.flatMap((change): readonly PodChange[] => {
    const { op, source, pod } = change;
    const { uid } = pod.metadata;
    const isHeld = stopped.has(uid);
    if (op === 'remove') wanted.delete(uid);
    else wanted.set(uid, { source, pod });
    switch (op) {
      case 'add':
      case 'reconcile':
        return isHeld ? [] : [change];
      case 'update':
        stopped.delete(uid);
        return isHeld ? [{ ...change, op: 'add' }] : [change];
      case 'remove':
      case 'delete':
        stopped.delete(uid);
        return isHeld ? [] : [change];
    }
  });
  return { hold: { wanted, stopped: stopped.size === held.size ? held : stopped }, changes };
}

/** Forgets what no source wants any more: it went while nobody looked. */
export function prune({ wanted, stopped }: Hold): Hold {
  const left = new Map([...stopped].filter(([uid]) => wanted.has(uid)));
  return { wanted, stopped: left.size === stopped.size ? stopped : left };
}

/** Does what people ask of a pod. A pod that is restarted ends as a whole, and begins anew when it has ended. */
export function obey(hold: Hold, { verb, namespace, name }: PodCommand): Held & { readonly reply: PodReply } {
  const found = [...hold.wanted.values()].find(
    ({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name,
  );
  if (!found) return { hold, changes: [], reply: { kind: 'unknown' } };
  const { source, pod } = found;
  const { uid } = pod.metadata;
  const isHeld = hold.stopped.has(uid);
  const add: PodChange = { op: 'add', source, pod };

  if (verb === 'stop') {
    if (isHeld) return { hold, changes: [], reply: { kind: 'nothingToDo' } };
    const stopped = new Map(hold.stopped).set(uid, { namespace, name, uid });
    const remove: PodChange = { op: 'remove', source, pod, why: 'it was stopped by hand' };
    return { hold: { ...hold, stopped }, changes: [remove], reply: { kind: 'done' } };
  }
  if (isHeld) {
    const stopped = new Map([...hold.stopped].filter(([other]) => other !== uid));
    return { hold: { ...hold, stopped }, changes: [add], reply: { kind: 'done' } };
  }
  if (verb === 'start') return { hold, changes: [], reply: { kind: 'nothingToDo' } };
  const remove: PodChange = { op: 'remove', source, pod, why: 'it is restarted by hand' };
  return { hold, changes: [remove, add], reply: { kind: 'done' } };
}
