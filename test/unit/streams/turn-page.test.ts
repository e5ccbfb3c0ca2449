import { describe, expect, it } from 'vitest';
import type { AdmissionNode } from '../../../src/model/admission/admission-node.ts';
import type { ObservedPod, Snapshot } from '../../../src/model/observed.ts';
import { fullName, type Pod, type PodUid } from '../../../src/model/pod.ts';
import { emptyBook, type BookEvent, type Entry, type Page, type PodBook } from '../../../src/streams/book/pod-book.ts';
import { turnPage } from '../../../src/streams/book/turn-page.ts';
import type { PodOutcome, PodWork, WaitingReasons } from '../../../src/streams/workers/pod-work.ts';

/** Pods are told apart by UID; all of them are called `web` unless said otherwise. */
function pod(uid: string, name = 'web', grace = 30): Pod {
  return {
    metadata: { uid: uid as PodUid, name, namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [], terminationGracePeriodSeconds: grace },
  };
}

function observed(uid: string, name = 'web', annotations: Readonly<Record<string, string>> = {}): ObservedPod {
  const container = {
    id: `c-${uid}`,
    name: 'c',
    sandboxId: 's',
    attempt: 0,
    state: 'running',
    createdAt: 0,
    image: '',
    imageRef: '',
    annotations,
  } as const;
  return { uid: uid as PodUid, name, namespace: 'default', revision: 1, sandboxes: [], containers: [container] };
}

function snapshot(...pods: readonly ObservedPod[]): BookEvent {
  const listed: Snapshot = { revision: 1, pods: new Map(pods.map((one) => [one.uid, one])) };
  return { kind: 'snapshot', snapshot: listed };
}

const add = (of: Pod): BookEvent => ({ kind: 'changes', changes: [{ op: 'add', source: 'file', pod: of }] });
const update = (of: Pod): BookEvent => ({ kind: 'changes', changes: [{ op: 'update', source: 'file', pod: of }] });
const remove = (of: Pod): BookEvent => ({ kind: 'changes', changes: [{ op: 'remove', source: 'file', pod: of }] });
const allSeen: BookEvent = { kind: 'allSeen' };
const drain: BookEvent = { kind: 'drain' };
const wake = (uid: string): BookEvent => ({ kind: 'wake', uid: uid as PodUid });

function outcome(
  uid: string,
  kind: 'ended' | 'cleanedUp' | 'synced' | 'finished' | 'failed' | 'prepared',
  work: PodWork['kind'],
  waiting: WaitingReasons = new Map(),
): BookEvent {
  const common = { uid: uid as PodUid, work: { kind: work, uid: uid as PodUid } as unknown as PodWork };
  const seen = observed(uid);
  const outcomes: Readonly<Record<typeof kind, PodOutcome>> = {
    ended: { kind: 'ended', ...common, observed: seen },
    cleanedUp: { kind: 'cleanedUp', ...common },
    prepared: { kind: 'prepared', ...common },
    synced: { kind: 'synced', ...common, observed: seen, waiting, finished: false, next: 1 },
    finished: { kind: 'synced', ...common, observed: seen, waiting: new Map(), finished: true, next: 1 },
    failed: { kind: 'failed', ...common, error: new Error('no'), next: 1 },
  };
  return { kind: 'outcome', outcome: outcomes[kind] };
}
const waits = (reason: string): BookEvent => outcome('a', 'synced', 'sync', new Map([['c', { reason, message: '' }]]));
const ended = (uid: string): BookEvent => outcome(uid, 'ended', 'terminate');
const cleanedUp = (uid: string): BookEvent => outcome(uid, 'cleanedUp', 'cleanUp');

const BOOK = emptyBook({ runtimeName: 'containerd', hostIps: [], update: 'immediate', statuses: new Map() });

const PREPARING = emptyBook({ runtimeName: 'containerd', hostIps: [], update: 'prepare', statuses: new Map() });

/** Turns one page after another and tells the work of each, as `sync a`. */
function story(...events: readonly BookEvent[]): ReturnType<typeof storyFrom> {
  return storyFrom(BOOK, events);
}

function storyFrom(
  book: PodBook,
  events: readonly BookEvent[],
): { readonly work: readonly (readonly string[])[]; readonly page: Page } {
  let page: Page = { book, work: [], notes: [] };
  const work = events.map((event) => {
    page = turnPage(page, event, 0);
    return page.work.map((item) => `${item.kind} ${item.uid}${item.kind === 'terminate' ? ` ${item.grace}s` : ''}`);
  });
  return { work, page };
}

const a = pod('a');
const b = pod('b');
const c = pod('c');

describe('turnPage: beginnings', () => {
  it('starts nothing before it is known what the runtime holds already', () => {
    expect(story(add(a), snapshot()).work).toEqual([[], ['sync a']]);
  });

  it('adopts a pod that runs already under its UID', () => {
    expect(story(add(a), snapshot(observed('a'))).work).toEqual([[], ['sync a']]);
  });

  it('syncs a pod again when the runtime shows a change, with what was seen', () => {
    const { page } = story(snapshot(), add(a), { kind: 'sighting', pod: observed('a') });
    expect(page.work).toMatchObject([{ kind: 'sync', uid: 'a', observed: observed('a') }]);
  });

  it('spares a pod of which the runtime held nothing the first look, and only the first, and only such a pod', () => {
    const nothing = { uid: 'a', revision: 1, sandboxes: [], containers: [] };
    expect(story(snapshot(), add(a)).page.work).toMatchObject([{ kind: 'sync', observed: nothing }]);
    expect(story(add(a), snapshot()).page.work).toMatchObject([{ kind: 'sync', observed: nothing }]);
    const again = story(snapshot(), add(a), update({ ...a })).page.work;
    const held = story(snapshot(observed('a')), add(a)).page.work;
    for (const work of [again, held]) {
      expect(work).toMatchObject([{ kind: 'sync', uid: 'a' }]);
      expect(work[0]).not.toHaveProperty('observed');
    }
  });

  it.each([
    ['at rest', outcome('a', 'synced', 'sync')],
    ['in the back-off of a container', waits('CrashLoopBackOff')],
  ])('spares a pod %s another look when its time has come: relists would have told what has changed', (_, last) => {
    const { page } = story(snapshot(), add(a), last, wake('a'));
    expect(page.work).toMatchObject([{ kind: 'sync', uid: 'a', observed: observed('a') }]);
  });

  it('leaves the very same book when a pod at rest is looked at and found as it was', () => {
    const same = outcome('a', 'synced', 'sync');
    const before = story(snapshot(), add(a), same).page;
    const awake = turnPage(before, wake('a'), 1_000);
    expect(awake.work).toHaveLength(1);
    expect(awake.book).toBe(before.book);
    expect(turnPage(awake, same, 2_000).book).toBe(before.book);
    expect(turnPage(awake, waits('CrashLoopBackOff'), 2_000).book).not.toBe(before.book);
  });

  it.each([
    ['its last work has failed', outcome('a', 'failed', 'sync')],
    ['a container could not be started', waits('CreateContainerError')],
  ])('looks for itself when the time has come, instead of trusting what it once saw, where %s', (_, last) => {
    const { page } = story(snapshot(), add(a), { kind: 'sighting', pod: observed('a') }, last, wake('a'));
    expect(page.work).toHaveLength(1);
    expect(page.work[0]).not.toHaveProperty('observed');
  });

  describe('while a container is being started with its postStart hook', () => {
    const hooked: Pod = { ...a, spec: { ...a.spec, containers: [{ name: 'c' }] } };
    const starting: BookEvent = { kind: 'starting', uid: a.metadata.uid, container: 'c' };
    const sighting: BookEvent = { kind: 'sighting', pod: observed('a') };
    const shown = (...events: readonly BookEvent[]): unknown => {
      const { page } = story(snapshot(), add(hooked), starting, sighting, ...events);
      const [status] = page.book.entries.get(a.metadata.uid)?.status?.containerStatuses ?? [];
      return [Object.keys(status?.state ?? {})[0], status?.ready];
    };

    it('shows it as before, whatever the runtime shows, until the work has ended in whatever way', () => {
      expect(shown()).toEqual(['waiting', false]);
      expect(shown(sighting, wake('a'), update(hooked))).toEqual(['waiting', false]);
      expect(shown(outcome('a', 'synced', 'sync'))).toEqual(['running', true]);
      expect(shown(outcome('a', 'failed', 'sync'))).toEqual(['running', true]);
    });

    it('shows what the runtime shows as soon as the pod is to end', () => {
      expect(shown(remove(hooked))).toEqual(['running', true]);
    });
  });

  it('forgets a pod that was taken back before it began, without a call', () => {
    const { work, page } = story(add(a), remove(a), snapshot());
    expect(work).toEqual([[], [], []]);
    expect(page.book.entries.size).toBe(0);
  });
});

describe('turnPage: one full name, one pod', () => {
  it('starts the successor the moment the predecessor has ended, not when its leftovers are gone', () => {
    expect(story(snapshot(), add(a), remove(a), add(b), ended('a'), cleanedUp('a')).work).toEqual([
      [],
      ['sync a'],
      ['terminate a 30s'],
      [],
      ['cleanUp a', 'sync b'],
      [],
    ]);
  });

  it('runs only the last of several quick edits', () => {
    const { work } = story(snapshot(), add(a), remove(a), add(b), remove(b), add(c), ended('a'));
    expect(work.at(-1)).toEqual(['cleanUp a', 'sync c']);
  });

  it('starts a pod again that comes back under its UID while it is being ended, once it is gone', () => {
    expect(story(snapshot(), add(a), remove(a), add(a), ended('a'), cleanedUp('a')).work).toEqual([
      [],
      ['sync a'],
      ['terminate a 30s'],
      [],
      ['cleanUp a'],
      ['sync a'],
    ]);
  });

  it('does not start a pod again that came back and went once more', () => {
    const { work, page } = story(snapshot(), add(a), remove(a), add(a), remove(a), ended('a'), cleanedUp('a'));
    expect(work.at(-1)).toEqual([]);
    expect(page.book.entries.size).toBe(0);
  });

  it('meets what was listed before any manifest was read, as soon as one wants its name', () => {
    expect(story(snapshot(observed('old')), add(b), ended('old')).work).toEqual([
      [],
      ['terminate old 30s'],
      ['cleanUp old', 'sync b'],
    ]);
  });

  it('ends an older pod of a wanted name before every source was heard, and starts the new one after it', () => {
    expect(story(add(b), snapshot(observed('old')), ended('old')).work).toEqual([
      [],
      ['sync b', 'terminate old 30s'].slice(1),
      ['cleanUp old', 'sync b'],
    ]);
  });

  it('lets pods of other names start side by side', () => {
    expect(story(add(a), add(pod('d', 'db')), snapshot()).work.at(-1)).toEqual(['sync a', 'sync d']);
  });
});

describe('turnPage: what nobody wants', () => {
  it('is left alone until every source was heard', () => {
    const strangers = snapshot(observed('old', 'other'));
    expect(story(strangers, allSeen, strangers).work).toEqual([[], [], ['terminate old 30s']]);
  });

  it('gets the grace that its containers were given, since its manifest is gone', () => {
    const stranger = snapshot(observed('old', 'other', { 'io.kubernetes.pod.terminationGracePeriod': '7' }));
    expect(story(allSeen, stranger).work.at(-1)).toEqual(['terminate old 7s']);
  });

  it('is ended once, however often it is listed', () => {
    const stranger = snapshot(observed('old', 'other'));
    expect(story(allSeen, stranger, stranger).work).toEqual([[], ['terminate old 30s'], []]);
  });

  it('is not started by being seen', () => {
    expect(story(snapshot(), { kind: 'sighting', pod: observed('x') }).work).toEqual([[], []]);
  });
});

describe('turnPage: edits under a fixed UID', () => {
  it('syncs the pod with the new manifest', () => {
    const { page } = story(snapshot(), add(a), update(pod('a', 'web', 5)));
    expect(page.work).toMatchObject([{ kind: 'sync', uid: 'a', pod: pod('a', 'web', 5) }]);
  });

  it('takes the newest manifest for a pod that waits', () => {
    const { page } = story(add(a), update(pod('a', 'web', 5)), snapshot());
    expect(page.work).toMatchObject([{ kind: 'sync', pod: pod('a', 'web', 5) }]);
  });

  it('does nothing for a change of the status alone', () => {
    const reconcile: BookEvent = { kind: 'changes', changes: [{ op: 'reconcile', source: 'api', pod: a }] };
    expect(story(snapshot(), add(a), reconcile).work.at(-1)).toEqual([]);
  });

  it('does not run a pod again that has finished', () => {
    expect(story(snapshot(), add(a), outcome('a', 'finished', 'sync'), update(a)).work.at(-1)).toEqual([]);
  });
});

/** An edit as one set of the source tells it: the old pod goes and the new one comes. */
const edit = (from: Pod, to: Pod): BookEvent => ({
  kind: 'changes',
  changes: [
    { op: 'remove', source: 'file', pod: from },
    { op: 'add', source: 'file', pod: to },
  ],
});
const prepared = (uid: string): BookEvent => outcome(uid, 'prepared', 'prepare');

describe('turnPage: edits that do not hurt', () => {
  /** A node on which pods prepare before they take another one's place. */
  const careful = (...events: readonly BookEvent[]): ReturnType<typeof story> => storyFrom(PREPARING, events);

  it('lets the old pod run on until all is at hand for the new one', () => {
    expect(careful(snapshot(), add(a), edit(a, b), prepared('b'), ended('a')).work).toEqual([
      [],
      ['sync a'],
      ['prepare b'],
      ['terminate a 30s'],
      ['cleanUp a', 'sync b'],
    ]);
  });

  it('keeps the old pod as its manifest said while the new one cannot be prepared, and shows why', () => {
    const failing = outcome('b', 'failed', 'prepare');
    const { work, page } = careful(
      snapshot(),
      add(a),
      edit(a, b),
      failing,
      { kind: 'sighting', pod: observed('a') },
      wake('b'),
    );
    expect(work.slice(3)).toEqual([[], ['sync a'], ['prepare b']]);
    expect(page.book.entries.get('b' as PodUid)).toHaveProperty('error', new Error('no'));
  });

  it('prepares only the last of several edits, for the place that the first was to take', () => {
    const { work } = careful(snapshot(), add(a), edit(a, b), edit(b, c), prepared('b'), prepared('c'), ended('a'));
    expect(work.slice(2)).toEqual([['prepare b'], ['prepare c'], [], ['terminate a 30s'], ['cleanUp a', 'sync c']]);
  });

  it('touches nothing when an edit is taken back before it was prepared', () => {
    const { work, page } = careful(snapshot(), add(a), edit(a, b), edit(b, a), prepared('b'));
    expect(work.slice(3)).toEqual([['sync a'], []]);
    expect([...page.book.entries.keys()]).toEqual(['a']);
  });

  it('ends the old pod when the manifest goes while its new version is being prepared', () => {
    const { work } = careful(snapshot(), add(a), edit(a, b), remove(b), ended('a'), cleanedUp('a'));
    expect(work.slice(3)).toEqual([['terminate a 30s'], ['cleanUp a'], []]);
  });

  it('ends the old pod at once where the new manifest asks for that', () => {
    const impatient: Pod = { ...b, metadata: { ...b.metadata, annotations: { 'rxlet.dev/update': 'immediate' } } };
    expect(careful(snapshot(), add(a), edit(a, impatient)).work.at(-1)).toEqual(['terminate a 30s']);
  });

  it('prepares for the place of a pod that ran before the agent started, too', () => {
    expect(careful(add(b), snapshot(observed('old')), prepared('b'), ended('old')).work).toEqual([
      [],
      ['prepare b'],
      ['terminate old 30s'],
      ['cleanUp old', 'sync b'],
    ]);
  });

  it('does not wait for a new version of a pod that has finished', () => {
    const { work } = careful(snapshot(), add(a), outcome('a', 'finished', 'sync'), edit(a, b));
    expect(work.at(-1)).toEqual(['cleanUp a', 'sync b']);
  });
});

describe('turnPage: endings', () => {
  it('shortens the grace of a pod that is being ended, and never lengthens it', () => {
    const shorter: BookEvent = {
      kind: 'changes',
      changes: [
        {
          op: 'delete',
          source: 'api',
          pod: { ...a, metadata: { ...a.metadata, deletionGracePeriodSeconds: 3 } },
        },
      ],
    };
    const longer: BookEvent = {
      kind: 'changes',
      changes: [
        {
          op: 'delete',
          source: 'api',
          pod: { ...a, metadata: { ...a.metadata, deletionGracePeriodSeconds: 60 } },
        },
      ],
    };
    expect(story(snapshot(), add(a), remove(a), shorter, longer).work.slice(2)).toEqual([
      ['terminate a 30s'],
      ['terminate a 3s'],
      [],
    ]);
  });

  it('tries again what failed when its time comes, in the phase that the pod is in by then', () => {
    expect(story(snapshot(), add(a), outcome('a', 'failed', 'sync'), wake('a')).work.at(-1)).toEqual(['sync a']);
    expect(story(snapshot(), add(a), remove(a), outcome('a', 'failed', 'terminate'), wake('a')).work.at(-1)).toEqual([
      'terminate a 30s',
    ]);
    expect(
      story(snapshot(), add(a), remove(a), ended('a'), outcome('a', 'failed', 'cleanUp'), wake('a')).work.at(-1),
    ).toEqual(['cleanUp a']);
  });

  it('tries at once what failed, and only that, when the runtime comes back', () => {
    const { work } = story(snapshot(), add(a), add(pod('d', 'db')), outcome('a', 'failed', 'sync'), {
      kind: 'runtimeReady',
    });
    expect(work.at(-1)).toEqual(['sync a']);
  });

  it('shows an error until a work succeeds', () => {
    const failed = story(snapshot(), add(a), outcome('a', 'failed', 'sync')).page.book;
    expect(failed.entries.get('a' as PodUid)).toHaveProperty('error', new Error('no'));
    const mended = story(snapshot(), add(a), outcome('a', 'failed', 'sync'), outcome('a', 'synced', 'sync')).page.book;
    expect(mended.entries.get('a' as PodUid)).not.toHaveProperty('error');
  });

  it('tells once that a pod is past its deadline, though the work that waited finds the same', () => {
    const verdict = { phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' } as const;
    const synced = outcome('a', 'synced', 'sync') as Extract<BookEvent, { readonly kind: 'outcome' }>;
    const late: BookEvent = { ...synced, outcome: { ...synced.outcome, verdict } as PodOutcome };
    const told = [late, late].map((_event, index, all) => {
      return story(snapshot(), add(a), ...all.slice(0, index + 1)).page.notes;
    });
    expect(told).toEqual([
      [{ uid: 'a', note: { level: 'Normal', reason: 'DeadlineExceeded', message: 'too long' } }],
      [],
    ]);
  });

  it('ignores the outcome of a sync that comes after the end has begun', () => {
    const { page } = story(snapshot(), add(a), remove(a), outcome('a', 'synced', 'sync'));
    expect(page.book.entries.get('a' as PodUid)?.phase).toBe('terminating');
  });

  it('begins a pod anew that came back during its clean-up, though a second round of that came first', () => {
    const { work } = story(
      allSeen,
      snapshot(),
      add(pod('a')),
      remove(pod('a')),
      ended('a'),
      wake('a'),
      add(pod('a')),
      cleanedUp('a'),
      cleanedUp('a'),
    );
    expect(work.slice(4)).toEqual([['cleanUp a'], ['cleanUp a'], [], ['sync a'], ['sync a']]);
  });

  it('removes what a finished pod left as soon as its manifest goes', () => {
    const { work } = story(snapshot(), add(a), outcome('a', 'finished', 'sync'), remove(a));
    expect(work.at(-1)).toEqual(['cleanUp a']);
  });

  it('ends everything when it is drained, starts nothing more, and has an empty book at last', () => {
    const { work, page } = story(
      snapshot(),
      add(a),
      add(pod('d', 'db')),
      drain,
      add(c),
      ended('a'),
      cleanedUp('a'),
      ended('d'),
      cleanedUp('d'),
    );
    expect(work[3]).toEqual(['terminate a 30s', 'terminate d 30s']);
    expect(work.slice(4).flat()).toEqual(['cleanUp a', 'cleanUp d']);
    expect([...page.book.entries.values()].map(({ uid, phase }) => [uid, phase])).toEqual([['c', 'waiting']]);
  });
});

it('a full name is name and namespace', () => {
  expect(fullName('web', 'default')).toBe('web_default');
});

describe('turnPage: who takes too much of the node', () => {
  const held = emptyBook({
    runtimeName: 'containerd',
    hostIps: [],
    update: 'prepare',
    statuses: new Map(),
    eviction: { backoff: { initial: 10, ceiling: 300 }, kept: new Map() },
  });
  const main = { ...a, spec: { ...a.spec, containers: [{ name: 'c' }] } };
  const file = { ...main, metadata: { ...main.metadata, annotations: { 'kubernetes.io/config.source': 'file' } } };
  const api = { ...main, metadata: { ...main.metadata, annotations: { 'kubernetes.io/config.source': 'api' } } };
  const evict = (uid: string): BookEvent => ({ kind: 'evict', uid: uid as PodUid, message: 'too much. ' });
  const back = (uid: string): BookEvent => ({ kind: 'return', uid: uid as PodUid });
  const out = [snapshot(), add(file), evict('a'), ended('a'), cleanedUp('a')];
  const entryOf = (events: readonly BookEvent[]): Entry | undefined =>
    storyFrom(held, events).page.book.entries.get('a' as PodUid);

  it('is ended within a second, stays away for a while, and begins anew', () => {
    expect(storyFrom(held, [...out, wake('a'), snapshot(), back('a')]).work).toEqual([
      [],
      ['sync a'],
      ['terminate a 1s'],
      ['cleanUp a'],
      [],
      [],
      [],
      ['sync a'],
    ]);
  });

  it('is told of and shown as the kubelet does, with the time of its return once nothing of it is left', () => {
    const { page } = storyFrom(held, out.slice(0, 3));
    expect(page.notes).toEqual([{ uid: 'a', note: { level: 'Warning', reason: 'Evicted', message: 'too much. ' } }]);
    expect(entryOf(out.slice(0, 3))?.status).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'too much. ',
    });
    expect(entryOf(out.slice(0, 3))?.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'TerminationByKubelet',
        message: 'too much. ',
      }),
    );
    expect(entryOf(out)?.status).toMatchObject({
      reason: 'Evicted',
      message: 'too much. The pod begins anew at 1970-01-01T00:00:00Z. ',
    });
    expect(entryOf([...out, back('a')])?.status).toMatchObject({ phase: 'Pending' });
    expect(entryOf([...out, back('a')])?.status).not.toHaveProperty('reason');
  });

  it('waits longer each time', () => {
    const delays = [out, [...out, back('a'), ...out.slice(2)]].map((events) => entryOf(events)?.eviction?.delay);
    expect(delays).toEqual([10, 20]);
  });

  it.each<[string, readonly BookEvent[], readonly string[]]>([
    ['is forgotten when its manifest goes while it is away', [...out, remove(file)], []],
    [
      'makes way for its next version at once',
      [...out, remove(file), add({ ...b, metadata: { ...b.metadata, annotations: file.metadata.annotations } })],
      ['sync b'],
    ],
    [
      'begins with the manifest of then',
      [...out, update({ ...file, spec: { ...file.spec, hostname: 'h' } }), back('a')],
      ['sync a'],
    ],
    ['does not come back once all is being ended', [...out, drain], []],
    ['is left alone when it is being ended already', [...out.slice(0, 2), remove(file), evict('a')], []],
    ['is not replaced where somebody else does that', [snapshot(), add(api), ...out.slice(2)], []],
  ])('%s', (_rule, events, work) => {
    const { page } = storyFrom(held, events);
    expect(page.work.map(({ kind, uid }) => `${kind} ${uid}`)).toEqual(work);
    expect(page.book.entries.size).toBe(
      work.length + (page.book.entries.get('a' as PodUid)?.phase === 'terminating' ? 1 : 0),
    );
  });

  it('is ended to the end by the next agent where one crashed over it, and keeps its wait', () => {
    const eviction = { message: 'too much. ', delay: 20, until: 15 };
    const facts = {
      ...held.facts,
      statuses: new Map([['a' as PodUid, { phase: 'Failed', reason: 'Evicted', message: 'too much. ' }]]),
      eviction: { backoff: { initial: 10, ceiling: 300 }, kept: new Map([['a' as PodUid, eviction]]) },
    };
    const { work, page } = storyFrom(emptyBook(facts), [
      add(file),
      snapshot(observed('a')),
      ended('a'),
      cleanedUp('a'),
      back('a'),
    ]);
    expect(work).toEqual([[], ['terminate a 1s'], ['cleanUp a'], [], ['sync a']]);
    expect(page.book.entries.get('a' as PodUid)?.eviction).toEqual(eviction);
  });
});

describe('turnPage: what the node takes', () => {
  const node: AdmissionNode = {
    nodeName: 'n1',
    labels: {},
    taints: [],
    allocatable: { cpu: 2_000, memory: 4_096, pods: 2 },
    appArmor: false,
    allowedUnsafeSysctls: [],
    supplementalGroupsPolicy: true,
  };
  const ROOM_FOR_TWO = { ...BOOK, facts: { ...BOOK.facts, node } };
  const PREPARING_ROOM: PodBook = { ...ROOM_FOR_TWO, facts: { ...ROOM_FOR_TWO.facts, update: 'prepare' } };
  const [x, y, z] = [pod('x', 'x'), pod('y', 'y'), pod('z', 'z')];
  const asking = (of: Pod, cpu: string, priority?: number): Pod => ({
    ...of,
    spec: {
      ...of.spec,
      containers: [{ name: 'c', resources: { requests: { cpu } } }],
      ...(priority === undefined ? {} : { priority }),
    },
  });
  const entryOf = ({ page }: ReturnType<typeof storyFrom>, uid: string): Entry | undefined =>
    page.book.entries.get(uid as PodUid);

  it('refuses the third of two pods, shows why, and does nothing for it', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z)]);
    expect(told.work).toEqual([[], ['sync x'], ['sync y'], []]);
    expect(entryOf(told, 'z')).toMatchObject({ phase: 'refused', status: { qosClass: 'BestEffort' } });
    expect(entryOf(told, 'z')?.status).not.toHaveProperty('containerStatuses');
  });

  it('shows a refused pod as Failed, with the reason, and the message behind "Pod was rejected"', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z)]);
    expect(entryOf(told, 'z')?.status).toMatchObject({
      phase: 'Failed',
      reason: 'UnexpectedAdmissionError',
      message: expect.stringMatching(/^Pod was rejected: Unexpected error .* \[\(res: pods, q: 1\), \]$/) as string,
    });
  });

  it('tells a refusal as a warning with its reason and message', () => {
    const { page } = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z)]);
    expect(page.notes).toEqual([
      {
        uid: 'z',
        note: {
          level: 'Warning',
          reason: 'UnexpectedAdmissionError',
          message: expect.stringMatching(/^Unexpected error .* \[\(res: pods, q: 1\), \]$/) as string,
        },
      },
    ]);
  });

  it('tells of a refusal once, however often it looks', () => {
    const { page } = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z), add(x), snapshot()]);
    expect(page.notes).toEqual([]);
  });

  it('starts what was refused the moment another pod has ended, with a status that has forgotten it', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z), remove(x), ended('x')]);
    expect(told.work.slice(4)).toEqual([['terminate x 30s'], ['cleanUp x', 'sync z']]);
    expect(entryOf(told, 'z')?.status?.phase).not.toBe('Failed');
    expect(entryOf(told, 'z')?.status).not.toHaveProperty('reason');
  });

  it('starts refused pods in the order in which they came', () => {
    const first = pod('first', 'first');
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(first), add(z), remove(x), ended('x')]);
    expect(told.work.at(-1)).toEqual(['cleanUp x', 'sync first']);
    expect(entryOf(told, 'z')?.phase).toBe('refused');
  });

  it('lets a pod that has finished take no room', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z), outcome('x', 'finished', 'sync')]);
    expect(told.work.at(-1)).toEqual(['sync z']);
  });

  it('forgets a refused pod that is removed, without a call', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(z), remove(z)]);
    expect(told.work.at(-1)).toEqual([]);
    expect(entryOf(told, 'z')).toBeUndefined();
  });

  it('judges an edited pod again at once', () => {
    const tooMuch = asking(x, '3');
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(tooMuch), update(asking(x, '1'))]);
    expect(told.work).toEqual([[], [], ['sync x']]);
  });

  it('never refuses what runs already when the agent starts, whatever came first', () => {
    const [running, comer] = [[observed('x', 'x'), observed('y', 'y'), observed('z', 'z')], pod('new', 'new')];
    expect(storyFrom(ROOM_FOR_TWO, [add(comer), add(x), add(y), add(z), snapshot(...running)]).work.at(-1)).toEqual([
      'sync x',
      'sync y',
      'sync z',
    ]);
    expect(storyFrom(ROOM_FOR_TWO, [snapshot(...running), add(x), add(y), add(z), add(comer)]).work).toEqual([
      [],
      ['sync x'],
      ['sync y'],
      ['sync z'],
      [],
    ]);
  });

  it('does not bring a refusal back from before a restart', () => {
    const status = { phase: 'Failed', reason: 'NodePorts', message: 'Pod was rejected: no' };
    const book = { ...ROOM_FOR_TWO, facts: { ...ROOM_FOR_TWO.facts, statuses: new Map([['x' as PodUid, status]]) } };
    expect(entryOf(storyFrom(book, [snapshot(), add(x)]), 'x')?.status?.phase).not.toBe('Failed');
  });

  it('counts what a pod holds as free for its successor', () => {
    const [large, larger] = [asking(a, '1500m'), asking(b, '1800m')];
    const edit: BookEvent = {
      kind: 'changes',
      changes: [
        { op: 'remove', source: 'file', pod: large },
        { op: 'add', source: 'file', pod: larger },
      ],
    };
    const told = storyFrom(PREPARING_ROOM, [
      snapshot(),
      add(large),
      edit,
      outcome('b', 'prepared', 'prepare'),
      ended('a'),
    ]);
    expect(told.work.slice(2)).toEqual([['prepare b'], ['terminate a 30s'], ['cleanUp a', 'sync b']]);
  });

  it('lets a pod run on while its successor does not fit, and takes that one when it does', () => {
    const [large, tooLarge, other] = [asking(a, '1'), asking(b, '1500m'), asking(x, '1')];
    const edit: BookEvent = {
      kind: 'changes',
      changes: [
        { op: 'remove', source: 'file', pod: large },
        { op: 'add', source: 'file', pod: tooLarge },
      ],
    };
    const told = storyFrom(PREPARING_ROOM, [snapshot(), add(other), add(large), edit, remove(other), ended('x')]);
    expect(told.work.slice(3)).toEqual([[], ['terminate x 30s', 'prepare b'], ['cleanUp x']]);
    expect(entryOf(told, 'a')).toMatchObject({ phase: 'syncing', successor: 'b' });
  });

  const [low, high] = [asking(x, '1500m', 1), asking(y, '1', 2)];

  it('ends a less important pod for a more important one', () => {
    expect(storyFrom(ROOM_FOR_TWO, [snapshot(), add(low), add(high)]).work.at(-1)).toEqual(['terminate x 30s']);
  });

  it('tells that a pod is ended for another as the warning Preempting', () => {
    const { page } = storyFrom(ROOM_FOR_TWO, [snapshot(), add(low), add(high)]);
    expect(page.notes).toEqual([
      {
        uid: 'x',
        note: { level: 'Warning', reason: 'Preempting', message: 'Preempted in order to admit critical pod' },
      },
    ]);
  });

  it('shows a pod that is ended for another as Failed, for the reason Preempting', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(low), add(high)]);
    expect(entryOf(told, 'x')?.status).toMatchObject({
      phase: 'Failed',
      reason: 'Preempting',
      message: 'Preempted in order to admit critical pod',
    });
  });

  it('shows the condition DisruptionTarget on a pod that is ended for another', () => {
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(low), add(high)]);
    expect(entryOf(told, 'x')?.status?.conditions?.at(-1)).toMatchObject({
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'TerminationByKubelet',
    });
  });

  it('starts the more important pod once the other has ended, and brings that one back when there is room', () => {
    const told = storyFrom(ROOM_FOR_TWO, [
      ...[snapshot(), add(low), add(high), ended('x'), cleanedUp('x')],
      ...[remove(high), ended('y')],
    ]);
    expect(told.work.slice(3)).toEqual([['cleanUp x', 'sync y'], [], ['terminate y 30s'], ['cleanUp y', 'sync x']]);
  });

  it('never tries a pod of the API server again: its controller makes another', () => {
    const fromApi: Pod = { ...z, metadata: { ...z.metadata, annotations: { 'kubernetes.io/config.source': 'api' } } };
    const told = storyFrom(ROOM_FOR_TWO, [snapshot(), add(x), add(y), add(fromApi), remove(x), ended('x')]);
    expect(entryOf(told, 'z')).toMatchObject({ phase: 'refused', status: { reason: 'OutOfpods' } });
  });
});
