import type { PodSandboxConfig } from '../../src/model/cri/api.ts';
import type { PodView } from '../../src/streams/view/node-view.ts';
import { ruleFor, type Difference, type Measure } from './allowed-differences.ts';
import { compareFailedProbes, compareGraces, type Moments } from './compare-stops.ts';
import { compareSpec, decodeCase, type Decoded } from './compare-spec.ts';
import { diff, type Gap } from './diff.ts';
import { endOf, liveCase, slackOf, type CaseLife } from './live-case.ts';
import { sortEnvs, withoutNumbers, withPlaceholders } from './normalise.ts';
import type { CorpusCase, Json, JsonObject, PodRecord } from './record.ts';
import { recordingEnd } from './recording-end.ts';
import { compareTimelines } from './timeline.ts';
import { wireForm } from './wire-form.ts';

interface JudgedDifference extends Difference {
  /** The rule that allows it; absent where nothing does. */
  readonly rule?: string;
}

export interface CaseResult {
  readonly id: string;
  readonly group: string;
  readonly equal: Readonly<Record<Measure, boolean>>;
  readonly differences: readonly JudgedDifference[];
  /** What was wrong with the manifests, in our words. */
  readonly problems: readonly string[];
  /** Defects of the run itself: the agent's stream failed, or a step is unknown to the runner. */
  readonly troubles: readonly string[];
}

/** Lives through a case and compares it with its record. */
export function compareCase(corpusCase: CorpusCase): CaseResult {
  return compareLife(corpusCase, liveCase(corpusCase));
}

/** Compares what came of a case, wherever it was lived through, with its record. */
export function compareLife(corpusCase: CorpusCase, life: CaseLife): CaseResult {
  const decoded = decodeCase(corpusCase);
  const records = [corpusCase.record, ...(corpusCase.record.others ?? [])];
  const differences = [
    ...records.flatMap((record) => comparePod(corpusCase, record, life, decoded)),
    ...strangers(corpusCase, records, life, decoded),
  ];
  const isEqual = (measure: Measure): boolean =>
    life.failures.length === 0 && differences.every((each) => each.measure !== measure || each.rule !== undefined);
  return {
    id: corpusCase.id,
    group: corpusCase.record.case.group,
    equal: {
      specs: isEqual('specs'),
      requests: isEqual('requests'),
      statuses: isEqual('statuses'),
      timelines: isEqual('timelines'),
    },
    differences,
    problems: life.problems.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`)),
    troubles: [...life.failures, ...life.unknownSteps.map((step) => `a step that the runner does not know: ${step}`)],
  };
}

function comparePod(
  corpusCase: CorpusCase,
  record: PodRecord,
  life: CaseLife,
  decoded: Decoded,
): readonly JudgedDifference[] {
  if (!record.pod) return []; // refused at the file: whatever we run is a stranger
  const { name, namespace } = record.pod.metadata;
  const pod = `${namespace}/${name}`;
  const judge = (measure: Measure, gaps: readonly Gap[], expected?: Json, got?: Json): readonly JudgedDifference[] =>
    gaps.map((gap) => {
      const difference = { ...gap, measure, pod };
      const rule = ruleFor(difference, {
        corpusCase,
        life,
        record,
        ...(expected !== undefined && { expected }),
        ...(got !== undefined && { got }),
      })?.rule;
      return { ...difference, ...(rule !== undefined && { rule }) };
    });

  const spec = judge('specs', compareSpec(record, decoded));
  const uids = uidsOf(pod, life);
  if (uids.length === 0) {
    const gaps: readonly Gap[] = [{ path: 'pod', expected: 'is there', got: 'is not there' }];
    return [...spec, ...(['requests', 'statuses', 'timelines'] as const).flatMap((measure) => judge(measure, gaps))];
  }
  const until = endOf(corpusCase);
  const removedAt = corpusCase.record.removedAt * 1_000;
  const isRestarted = corpusCase.record.steps?.some(({ op }) => op === 'restart-kubelet') ?? false;
  const expected = withoutNumbers(record.pod.status ?? null);
  const status = bestStatus(expected, pod, corpusCase, life, uids, (gaps, got) =>
    judge('statuses', gaps, expected, got),
  );
  return [
    ...spec,
    ...judge('requests', [
      ...compareUids(corpusCase, pod, uids),
      ...compareRequests(record, pod, life, uids, { removedAt, until }),
    ]),
    ...status,
    ...judge('timelines', [
      ...compareTimelines(record, life.sights, { removedAt, until }),
      ...compareRestarts(record, pod, life),
      ...compareGraces(record, pod, life, { removedAt, until }),
      // A new agent counts from the beginning.
      ...(isRestarted ? [] : compareFailedProbes(record, pod, life, decoded)),
    ]),
  ];
}

function uidsOf(pod: string, { sights, sandboxes }: CaseLife): readonly string[] {
  const seen = sights.flatMap(({ pods }) =>
    pods.filter((view) => nameOf(view) === pod).map((view) => view.pod.metadata.uid),
  );
  const run = sandboxes.flatMap(({ request: { config } }) =>
    config?.metadata?.uid !== undefined && podOf(config) === pod ? [config.metadata.uid] : [],
  );
  return [...new Set<string>([...seen, ...run])];
}

function nameOf({ pod: { metadata } }: PodView): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** One UID per version of a pod. Which one is ours to make, unless the manifest gives it. */
function compareUids(
  { record: { meta }, manifests, stepTexts }: CorpusCase,
  pod: string,
  uids: readonly string[],
): readonly Gap[] {
  const recorded = meta.pods.filter(({ namespace, name }) => `${namespace}/${name}` === pod).map(({ uid }) => uid);
  const texts = [...manifests.values(), ...stepTexts].map((bytes) => bytes.toString());
  const isGiven = (uid: string): boolean => texts.some((text) => text.includes(uid));
  if (recorded.length === uids.length && recorded.every((uid) => !isGiven(uid) || uids.includes(uid))) return [];
  return [{ path: 'uids', expected: recorded, got: uids }];
}

function compareRequests(
  record: PodRecord,
  pod: string,
  life: CaseLife,
  uids: readonly string[],
  { removedAt, until }: Moments,
): readonly Gap[] {
  const sandboxes = life.sandboxes
    .filter(({ at, request }) => at < until && podOf(request.config) === pod)
    .map(({ request }) => withPlaceholders(wireForm('PodSandboxConfig', request.config ?? {}), life, uids));
  const made = life.containers.filter(({ at, request }) => at < until && podOf(request.sandboxConfig) === pod);
  const containers = untilRecordingEnd(made, record, removedAt).map(({ request }) =>
    sortEnvs(withPlaceholders(wireForm('ContainerConfig', request.config ?? {}), life, uids)),
  );
  const theirs = record.containers.flatMap(({ config }) => (config ? [config] : []));
  return [
    ...diff([...record.sandboxes].map(withoutNumbers), sandboxes, 'sandboxes'),
    ...compareCreations(theirs.map(withoutNumbers).map(sortEnvs), containers, record.containersLeftOut !== undefined),
  ];
}

/** Without the restarts that came after the end of the recording, which we reach sooner than its machine did. */
function untilRecordingEnd(
  made: CaseLife['containers'],
  { cri }: PodRecord,
  removedAt: number,
): CaseLife['containers'] {
  const theirs = cri.flatMap(({ call, name = '', attempt = 0, t }) =>
    call === 'CreateContainer' ? [{ name, state: `${attempt}`, from: t * 1_000 }] : [],
  );
  const ours = made.map(({ at, request }) => {
    const { name = '', attempt = 0 } = request.config?.metadata ?? {};
    return { name, state: `${attempt}`, from: at };
  });
  const endFor = (name: string): number => {
    const own = (all: typeof ours): typeof ours => all.filter((each) => each.name === name);
    return recordingEnd(own(theirs), own(ours), removedAt);
  };
  return made.filter(({ at, request }) => {
    const { name = '', attempt = 0 } = request.config?.metadata ?? {};
    return attempt === 0 || at <= endFor(name);
  });
}

/** Containers are compared by name and attempt, and those that came first in their order too. */
function compareCreations(
  theirs: readonly JsonObject[],
  ours: readonly JsonObject[],
  someLeftOut: boolean,
): readonly Gap[] {
  const [a, b] = [byAttempt(theirs), byAttempt(ours)];
  const gaps = [...new Set([...a.keys(), ...b.keys()])].flatMap((key): readonly Gap[] => {
    const [expected, got] = [a.get(key), b.get(key)];
    // How many restarts there are until the end depends on its very moment.
    const isAtTheEnd = isLastRestart(key, a) || isLastRestart(key, b);
    if ((!expected || !got) && (isAtTheEnd || (someLeftOut && !expected))) return [];
    if (!expected || !got)
      return [{ path: `containers.${key}`, expected: expected ? 'made' : 'not made', got: got ? 'made' : 'not made' }];
    return diff(expected, got, `containers.${key}`);
  });
  const [first, second] = [a, b].map((all) => [...all.keys()].filter((key) => !key.includes('#')).join(' '));
  if (gaps.length > 0 || first === second) return gaps;
  return [{ path: 'containers (order)', expected: first ?? '', got: second ?? '' }];
}

function byAttempt(configs: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  const all = new Map<string, JsonObject>();
  for (const config of configs) {
    const { name, attempt = 0 } = config['metadata'] as { name?: string; attempt?: number };
    let key = attempt === 0 ? (name ?? '') : `${name ?? ''}#${attempt}`;
    while (all.has(key)) key += "'"; // in a later sandbox, or of the next UID
    all.set(key, config);
  }
  return all;
}

function isLastRestart(key: string, all: ReadonlyMap<string, JsonObject>): boolean {
  const [name = '', attempt] = key.split('#');
  if (attempt === undefined || Number(attempt) < 2) return false;
  return all.has(key) && !all.has(`${name}#${Number(attempt) + 1}`);
}

/** The status of ours that is most like the recorded one, among those of about that moment. */
function bestStatus(
  expected: Json,
  pod: string,
  { record: { removedAt } }: CorpusCase,
  life: CaseLife,
  uids: readonly string[],
  judge: (gaps: readonly Gap[], got: Json) => readonly JudgedDifference[],
): readonly JudgedDifference[] {
  const at = removedAt * 1_000;
  // Each back-off of the kubelet ended late, so a state of its end may come long before that with us.
  const [from, until] = [at / 2 - slackOf(0), at + slackOf(at)];
  const before = life.sights.findLastIndex((sight) => sight.at <= from);
  const near = life.sights.filter((sight, index) => index >= before && sight.at < until);
  // A pod that was taken away before is compared as it was last.
  const last = life.sights.filter(({ pods }) =>
    pods.some((view) => nameOf(view) === pod && view.phase !== 'terminating'),
  );
  const isGone = !near.some(({ pods }) => pods.some((view) => nameOf(view) === pod));
  const statuses = new Map<string, Json>();
  for (const { pods } of isGone ? last.slice(-2) : near) {
    const views = pods.filter((view) => nameOf(view) === pod);
    const view = views.find(({ phase }) => phase === 'syncing' || phase === 'terminated') ?? views.at(-1);
    if (!view) continue;
    const status = withPlaceholders(view.status as unknown as JsonObject, life, uids);
    statuses.set(JSON.stringify(status), status);
  }
  const judged = [...statuses.values()].map((got) =>
    judge(diff(withoutNulls(expected), withoutNulls(got), 'status'), got),
  );
  const weight = (all: readonly JudgedDifference[]): number => all.filter(({ rule }) => rule === undefined).length;
  const [best] = judged.toSorted((a, b) => weight(a) - weight(b));
  return best ?? judge([{ path: 'pod', expected: 'is there', got: 'is not there' }], null);
}

function withoutNulls(json: Json): Json {
  return JSON.parse(JSON.stringify(json), (_key, value: Json) => value ?? undefined) as Json;
}

/** From one instance to the next there is its life and the back-off: never less than that, and not much more. */
function compareRestarts(record: PodRecord, pod: string, life: CaseLife): readonly Gap[] {
  const recorded = new Map<string, number>();
  for (const { call, container, t } of record.cri) {
    if (call !== 'CreateContainer' || container === undefined) continue;
    const name = withoutNumbers(container);
    if (!recorded.has(name)) recorded.set(name, t * 1_000);
  }
  const ours = new Map<string, number>();
  for (const { at, request } of life.containers) {
    const { name = '', attempt = 0 } = request.config?.metadata ?? {};
    const key = `<CONTAINER_ID:${attempt === 0 ? name : `${name}#${attempt}`}>`;
    if (podOf(request.sandboxConfig) === pod && !ours.has(key)) ours.set(key, at);
  }
  return [...recorded.keys()].flatMap((name): readonly Gap[] => {
    const match = /^<CONTAINER_ID:(.+)#(\d+)>$/.exec(name);
    if (!match) return [];
    const [, container = '', attempt = ''] = match;
    const former =
      attempt === '1' ? `<CONTAINER_ID:${container}>` : `<CONTAINER_ID:${container}#${Number(attempt) - 1}>`;
    const [a, b] = [distance(recorded, former, name), distance(ours, former, name)];
    if (a === undefined || b === undefined) return [];
    // The kubelet looks again some time after a back-off has ended: so ours may be shorter, by a part.
    const isNear = b >= a * 0.6 - 4_000 && b <= a + 2_500;
    return isNear
      ? []
      : [{ path: `from ${former} to ${name} (s)`, expected: Math.round(a / 100) / 10, got: Math.round(b / 100) / 10 }];
  });
}

function podOf(config: PodSandboxConfig | undefined): string {
  return `${config?.metadata?.namespace ?? ''}/${config?.metadata?.name ?? ''}`;
}

function distance(starts: ReadonlyMap<string, number>, former: string, later: string): number | undefined {
  const [a, b] = [starts.get(former), starts.get(later)];
  return a === undefined || b === undefined ? undefined : b - a;
}

/** Pods that run with us, or are seen, and that the record knows nothing of. */
function strangers(
  corpusCase: CorpusCase,
  records: readonly PodRecord[],
  life: CaseLife,
  decoded: Decoded,
): readonly JudgedDifference[] {
  const known = new Set(records.flatMap(({ pod }) => (pod ? [`${pod.metadata.namespace}/${pod.metadata.name}`] : [])));
  const isRead = corpusCase.record.meta.pods.length > 0 || life.problems.length > 0;
  const taken = isRead ? decoded.pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`) : [];
  const seen = life.sights.flatMap(({ pods }) => pods.map(nameOf));
  const strange = (measure: Measure, pods: readonly string[]): readonly JudgedDifference[] =>
    [...new Set(pods)]
      .filter((pod) => !known.has(pod))
      .map((pod) => {
        const difference: Difference = { measure, pod, path: 'pod', got: 'is taken in' };
        const rule = ruleFor(difference, { corpusCase, life, record: corpusCase.record })?.rule;
        return { ...difference, ...(rule !== undefined && { rule }) };
      });
  return [...strange('specs', taken), ...strange('requests', seen), ...strange('statuses', seen)];
}
