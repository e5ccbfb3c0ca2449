import type { Gap } from './diff.ts';
import type { CorpusCase, Json, PodRecord } from './record.ts';
import type { CaseLife } from './live-case.ts';

/**
 * `specs`: what a manifest is taken in as, or that it is refused. `requests`: what the runtime is asked for. `statuses`:
 * what is shown at the end. `timelines`: the order of what is shown, restarts and graces.
 */
export type Measure = 'specs' | 'requests' | 'statuses' | 'timelines';

/** One difference, and where it was found. */
export interface Difference extends Gap {
  readonly measure: Measure;
  /** `namespace/name`; empty for the case as a whole. */
  readonly pod: string;
}

export interface Situation {
  readonly corpusCase: CorpusCase;
  readonly life: CaseLife;
  readonly record: PodRecord;
  /** The document in which the difference stands, as it was expected and as it is. */
  readonly expected?: Json;
  readonly got?: Json;
}

/** A way in which rxlet deliberately is not like the kubelet. Feeds docs/differences.md. */
export interface AllowedDifference {
  readonly rule: string;
  readonly reason: string;
  /** Judges fields and what was told of them, never which case it is. */
  readonly covers: (difference: Difference, situation: Situation) => boolean;
}

const ALLOWED_DIFFERENCES: readonly AllowedDifference[] = [
  {
    rule: 'host-ip',
    reason: 'Standalone, the kubelet never fills in status.hostIP and hostIPs; rxlet does.',
    covers: ({ measure, path, expected }) =>
      measure === 'statuses' && /^status\.hostIPs?(?:\.|$)/.test(path) && expected === undefined,
  },
  {
    rule: 'host-network-pod-ip',
    reason: "A pod on the host network has the node's address as its own; standalone, the kubelet leaves it out.",
    covers: ({ measure, path, expected, got }, { got: status }) =>
      measure === 'statuses' &&
      /^status\.podIPs?(?:\.|$)/.test(path) &&
      expected === undefined &&
      JSON.stringify(got).includes('<HOST_IP>') &&
      JSON.stringify(status ?? null).includes('"podIP":"<HOST_IP>"'),
  },
  {
    rule: 'host-network-pod-ip-in-env',
    reason:
      "status.podIP(s) and status.hostIP(s) in a variable is the node's address where the kubelet gives an empty one.",
    covers: ({ measure, path, expected, got }) =>
      measure === 'requests' && /\.envs\.\d+\.value$/.test(path) && expected === undefined && got === '<HOST_IP>',
  },
  {
    rule: 'back-off-shows-at-once',
    reason:
      'A container that ended or could not start, and is to start again, shows the back-off as soon as it is known; the kubelet shows the failure until its next look.',
    covers: ({ measure, path }, { expected, got }) => {
      const name = /^status\.(\w+)\.([^.]+)\.(?:state|lastState)(?:\.|$)/.exec(path);
      if (measure !== 'statuses' || !name) return false;
      const [, list = '', container = ''] = name;
      const [theirs, ours] = [containerOf(expected, list, container), containerOf(got, list, container)];
      return isBackOffOf(theirs, ours) || isBackOffOf(ours, theirs);
    },
  },
  {
    rule: 'sandbox-of-a-finished-pod',
    reason:
      'The sandbox of a pod that is done is stopped at once, and shows so; the recording ended before the stop of the kubelet could show.',
    covers: ({ measure, path, expected, got }, { record, expected: status }) =>
      measure === 'statuses' &&
      path === 'status.conditions.PodReadyToStartContainers.status' &&
      expected === 'True' &&
      got === 'False' &&
      /"phase":"(?:Succeeded|Failed)"/.test(JSON.stringify(status ?? null)) &&
      record.cri.some(({ call, t }) => call === 'StopPodSandbox' && t > (record.timeline.at(-1)?.t ?? 0)),
  },
  {
    rule: 'status-survives-a-restart',
    reason:
      'What was known of a pod that is done is still shown after a restart of the agent; the kubelet forgets its address.',
    covers: ({ measure, path, expected, got }, { corpusCase: { record } }) =>
      measure === 'statuses' &&
      /^status\.podIPs?$/.test(path) &&
      expected === undefined &&
      JSON.stringify(got ?? '').includes('<POD_IP>') &&
      record.steps?.some(({ op }) => op === 'restart-kubelet') === true,
  },
  {
    rule: 'refused-pods-are-tried-again',
    reason: 'A pod that found no room is tried again when the cause goes away; the kubelet never does.',
    covers: ({ pod }, { record, life }) => {
      const status = record.pod?.status as {
        readonly phase?: string;
        readonly reason?: string;
        readonly message?: string;
      };
      const isRefused = record.rejectedBecause?.stage === 'admission' && status.phase === 'Failed';
      const was = life.sights.some(({ pods }) =>
        pods.some(
          ({ pod: { metadata }, status: ours }) =>
            `${metadata.namespace}/${metadata.name}` === pod &&
            ours.phase === 'Failed' &&
            ours.reason === status.reason &&
            ours.message === status.message,
        ),
      );
      return isRefused && was;
    },
  },
  {
    rule: 'restarts-are-counted-on',
    reason:
      'A container that was removed behind our back is followed by the next number; the kubelet counts a restart and uses the old number again.',
    covers: ({ measure, path }, { record }) => {
      const twice = record.containers.filter(
        ({ name, attempt }, index) =>
          record.containers.findIndex((other) => other.name === name && other.attempt === attempt) < index,
      );
      const isIt = ({ name }: { readonly name: string }): boolean =>
        measure === 'requests'
          ? new RegExp(`^containers\\.${name}['#]`).test(path)
          : path === `status.containerStatuses.${name}.containerID`;
      return record.sandboxes.length === 1 && twice.some(isIt);
    },
  },
  {
    rule: 'unknown-fields-are-refused',
    reason: 'A misspelt field is a mistake that would else go unnoticed; the kubelet drops it silently.',
    covers: (_difference, situation) => refusedOnlyFor(situation, /unknown field/),
  },
  {
    rule: 'duplicate-keys-are-refused',
    reason: 'A key given twice in a map is a mistake; the kubelet takes the last one silently.',
    covers: (_difference, situation) => refusedOnlyFor(situation, /twice|duplicate|unique/i),
  },
  {
    rule: 'only-manifest-file-names-are-read',
    reason: 'Editors leave backups beside a file; only *.yaml, *.yml and *.json are manifests.',
    covers: (_difference, { corpusCase: { manifests }, life }) =>
      life.problems.length === 0 && [...manifests.keys()].every((name) => !/\.(?:yaml|yml|json)$/.test(name)),
  },
  {
    rule: 'lists-are-read',
    reason: 'A List or PodList in a file is a number of pods; the kubelet refuses it.',
    covers: ({ got }, { record, corpusCase: { manifests } }) =>
      !record.accepted &&
      got !== undefined &&
      [...manifests.values()].some((bytes) => /kind"?: *"?(?:Pod)?List\b/.test(bytes.toString())),
  },
  {
    rule: 'objects-of-manifests-serve-pods',
    reason: 'Config maps, secrets and claims come from manifests; the kubelet refuses whoever refers to one.',
    covers: ({ expected, got }, { record }) =>
      expected === undefined &&
      got !== undefined &&
      /static pods may not reference (?:configmaps|secrets|persistentvolumeclaims)$/.test(
        record.rejectedBecause?.raw ?? '',
      ),
  },
  {
    rule: 'later-documents-are-read',
    reason: 'Every YAML document of a file counts; the kubelet drops all but the first silently.',
    covers: ({ path, expected }, { corpusCase: { manifests } }) =>
      path === 'pod' &&
      expected === undefined &&
      [...manifests.values()].some((bytes) => /^---\s*$/m.test(bytes.toString())),
  },
  {
    rule: 'the-kubelet-crashed',
    reason:
      'What the kubelet does after it has crashed is nothing to copy: that it never starts a pod, or begins it anew.',
    covers: (difference, { corpusCase: { record } }) =>
      record.kubeletPanic !== undefined &&
      (tellsOfARestart(difference) || (difference.path === 'pod' && difference.got === 'is taken in')),
  },
  {
    rule: 'successor-of-one-name',
    reason:
      'Of two files with one pod name the first one keeps it, and the other is a problem; the kubelet lets them fight.',
    covers: ({ pod }, { corpusCase: { record }, life }) =>
      record.meta.pods.filter(({ namespace, name }) => `${namespace}/${name}` === pod).length > 1 &&
      life.problems.some(({ message }) => message.includes('already comes from')),
  },
  {
    rule: 'what-is-put-back-starts-anew',
    reason:
      'A pod that was taken away and ended, and is put back under its UID, is a new pod; the kubelet counts on where it was (docs/decisions/016).',
    covers: (difference, { life }) => tellsOfARestart(difference) && wasAway(difference.pod, life),
  },
  {
    rule: 'projected-volumes-mount',
    reason: 'Standalone, the kubelet cannot make a projected volume, whatever is projected; in rxlet the pod runs.',
    covers: ({ pod }, { record, life }) =>
      record.events?.some(({ message }) => /projected volume .* kube client is not configured/.test(message)) ===
        true &&
      life.sights.some(({ pods }) =>
        pods.some(
          ({ pod: { metadata }, status }) =>
            `${metadata.namespace}/${metadata.name}` === pod && status.phase === 'Running',
        ),
      ),
  },
  {
    rule: 'a-broken-edit-changes-nothing',
    reason: 'A file that stops being valid keeps its last good pod running; the kubelet stops it at its next scan.',
    covers: (difference, { corpusCase: { record, manifests, stepTexts }, life }) =>
      life.problems.length > 0 &&
      manifests.size === 1 &&
      stepTexts.length > 0 &&
      record.accepted &&
      tellsOfARestart(difference),
  },
];

/** Which rule covers a difference, if any. */
export function ruleFor(difference: Difference, situation: Situation): AllowedDifference | undefined {
  return ALLOWED_DIFFERENCES.find(({ covers }) => covers(difference, situation));
}

/** The kubelet ended what ran, and began it again with the next number; with us there is no trace of that. */
function tellsOfARestart({ measure, path, expected, got }: Difference): boolean {
  switch (measure) {
    case 'specs':
      return false;
    case 'requests':
      return /^sandboxes\.[1-9]\d*(?:\.metadata\.attempt)?$/.test(path)
        ? got === undefined
        : /^containers\.[^.]+$/.test(path);
    case 'statuses':
      return /^status\.(?:initC|c)ontainerStatuses\.[^.]+\.(?:restartCount|containerID|lastState\.terminated)$/.test(
        path,
      );
    case 'timelines':
      return (
        got === undefined && /restarts=[1-9]|^"ended:|PodReadyToStartContainers=False/.test(JSON.stringify(expected))
      );
  }
}

/** It was being ended, and after that the same UID was wanted again. */
function wasAway(pod: string, { sights }: CaseLife): boolean {
  const views = sights.flatMap(({ pods }) =>
    pods.filter(({ pod: { metadata } }) => `${metadata.namespace}/${metadata.name}` === pod),
  );
  const left = views.findIndex(({ phase }) => phase === 'terminating');
  const uid = views[left]?.pod.metadata.uid;
  return views.slice(left).some((view) => view.pod.metadata.uid === uid && view.phase !== 'terminating');
}

function refusedOnlyFor({ record, life: { problems } }: Situation, why: RegExp): boolean {
  return record.accepted && problems.length > 0 && problems.every(({ message }) => why.test(message));
}

interface ContainerLook {
  readonly state?: { readonly terminated?: Json; readonly waiting?: { readonly reason?: string } };
  readonly lastState?: { readonly terminated?: Json };
}

function containerOf(status: Json | undefined, list: string, name: string): ContainerLook {
  const lists = status as
    Readonly<Record<string, readonly (ContainerLook & { name: string })[] | undefined>> | undefined;
  return lists?.[list]?.find((container) => container.name === name) ?? {};
}

/** One shows the end, or that the start failed, and the other the back-off after that very end. */
function isBackOffOf(ended: ContainerLook, waiting: ContainerLook): boolean {
  const end =
    ended.state?.waiting?.reason === 'RunContainerError' ? ended.lastState?.terminated : ended.state?.terminated;
  return (
    end !== undefined &&
    waiting.state?.waiting?.reason === 'CrashLoopBackOff' &&
    JSON.stringify(waiting.lastState?.terminated) === JSON.stringify(end)
  );
}
