import type { Container, Pod, PodSpec } from '../../../src/model/pod.ts';
import type { ContainerBehaviour, ProcessScript } from '../../../src/simulation/process-script.ts';
import type { Workload } from '../../../src/model/workloads/workload.ts';
import { aWorkload } from '../../unit/model/workloads/a-workload.ts';
import { declared, execProbe, podOf } from '../pod-stories.ts';
import type { ProcessPlan, VersionPlan, WorldPlan } from './world-plan.ts';

/** The manifest of one pod of a world as it stands in the folder at some time. */
export interface PlannedPod {
  readonly pod: Pod;
  /** Absent: it is of a workload. */
  readonly version?: VersionPlan;
}

const IMAGES = ['busybox:1.35', 'busybox:1', 'busybox:2'] as const;
const MOUNT = { name: 'm', mountPath: '/m' };
const LIMITED = { name: 'd', mountPath: '/d' };
const LIMIT = '100';

export function plannedPod({ pods }: WorldPlan, number: number, versionNumber: number): PlannedPod {
  const index = number % pods.length;
  const { fixedUid, versions } = existing(pods[index]);
  const wanted = versionNumber % versions.length;
  const version = existing(versions[fixedUid ? 0 : wanted]);
  const name = `p${index}`;
  const image = IMAGES[fixedUid ? wanted : 0] ?? IMAGES[0];
  const uid = fixedUid ? name : `${name}-${wanted}`;
  const { metadata, ...pod } = podOf(name, specOf(version, image), uid);
  // Only what comes from manifests is held to its disk.
  const annotations = version.limited ? { 'kubernetes.io/config.source': 'file' } : metadata.annotations;
  return { pod: { ...pod, metadata: { ...metadata, annotations } }, version };
}

function specOf(version: VersionPlan, image: string): Partial<PodSpec> {
  const { policy, grace, containers, sidecars = [], init, volume, limited } = version;
  const volumeMounts = [...(volume ? [MOUNT] : []), ...(limited ? [LIMITED] : [])];
  const common: Partial<Container> = {
    image,
    ...(volumeMounts.length > 0 ? { volumeMounts } : {}),
    resources: resourcesOf(version),
  };
  const initContainers = [
    ...sidecars.map((process, place) => container(`s${place}`, process, { ...common, restartPolicy: 'Always' })),
    ...(init ? [declared('init', common)] : []),
  ];
  const volumes = [
    ...(volume ? [{ name: MOUNT.name, emptyDir: { medium: 'Memory' } }] : []),
    ...(limited ? [{ name: LIMITED.name, emptyDir: limited === 'volume' ? { sizeLimit: LIMIT } : {} }] : []),
  ];
  return {
    restartPolicy: policy,
    terminationGracePeriodSeconds: grace,
    containers: containers.map((process, place) => container(`c${place}`, process, common)),
    ...(initContainers.length > 0 ? { initContainers } : {}),
    ...(volumes.length > 0 ? { volumes } : {}),
  };
}

function resourcesOf({ limited, qos }: VersionPlan): NonNullable<Container['resources']> {
  const requests = qos && { cpu: '10m', memory: '16Mi' };
  const limits = {
    ...(qos === 'Guaranteed' ? requests : {}),
    ...(limited === 'containers' ? { 'ephemeral-storage': LIMIT } : {}),
  };
  return { ...(requests ? { requests } : {}), ...(Object.keys(limits).length > 0 ? { limits } : {}) };
}

function container(
  name: string,
  { liveness, startup, readiness, postStart, preStop }: ProcessPlan,
  more: Partial<Container>,
): Container {
  const ask = (what: Command): { readonly exec: { readonly command: readonly string[] } } => ({
    exec: { command: [what] },
  });
  const lifecycle = {
    ...(postStart === undefined ? {} : { postStart: ask('post-start') }),
    ...(preStop === undefined ? {} : { preStop: ask('pre-stop') }),
  };
  return declared(name, {
    ...more,
    ...(liveness ? { livenessProbe: execProbe() } : {}),
    ...(startup === undefined ? {} : { startupProbe: { ...execProbe({ failureThreshold: 300 }), ...ask('startup') } }),
    ...(readiness === undefined ? {} : { readinessProbe: { ...execProbe(), ...ask('readiness') } }),
    ...(Object.keys(lifecycle).length > 0 ? { lifecycle } : {}),
  });
}

/** What is run beside a process: probes and hooks. */
type Command = 'check' | 'startup' | 'readiness' | 'post-start' | 'pre-stop';

/** The document of a workload of a world, in one of its versions. */
export function plannedWorkload({ workloads = [] }: WorldPlan, which: number, version: number): Workload {
  const { kind, count } = existing(workloads[which]);
  const spec = kind === 'Job' ? `completions: ${count}\n  backoffLimit: 1` : `replicas: ${count}`;
  return aWorkload(kind, { name: `w${which}`, spec, image: existing(IMAGES[version]) });
}

/** More than any pod may take of the disk that has a limit; bytes. */
export const TOO_MUCH = 1_001;

/** What fills the limited volume of a pod, while it is there. */
export function fillingOf(uid: string): string {
  return `/var/lib/rxlet/pods/${uid}/volumes/kubernetes.io~empty-dir/${LIMITED.name}/big`;
}

function existing<T>(planned: T | undefined): T {
  if (planned === undefined) throw new Error('a world has at least one pod of one version');
  return planned;
}

/** The plan of a container, by the names of `plannedPod`; none of an init container. */
export function processOf({ containers, sidecars = [] }: VersionPlan, name: string): ProcessPlan | undefined {
  const place = Number(name.slice(1));
  return name.startsWith('s') ? sidecars[place] : containers[place];
}

/** What every container of a world does; `passed` tells milliseconds that no clock changes. */
export function behaviourOf(plan: WorldPlan, passed: () => number): ContainerBehaviour {
  return ({ name, attempt, pod: { uid, name: pod } }) => {
    const [, index, version = '0'] = /^p(\d)-?(\d)?$/.exec(uid) ?? [];
    if (index === undefined) return ofWorkload(plan, pod);
    const { version: of } = plannedPod(plan, Number(index), Number(version));
    const process = of && processOf(of, name);
    if (!of || !process) return { exits: { after: 300, code: 0 } };
    return scriptOf(process, name.startsWith('s') ? { ...of, policy: 'Always' } : of, attempt, passed);
  };
}

/** `w0-3-n1` is the pod of this number. */
function ofWorkload({ workloads = [] }: WorldPlan, pod: string): ProcessScript {
  const [, which = '0', number = '0'] = /^w(\d)-(\d+)/.exec(pod) ?? [];
  const workload = workloads[Number(which)];
  if (workload?.kind !== 'Job') return {};
  return { exits: { after: workload.after, code: workload.fails && Number(number) % 2 === 0 ? 1 : 0 } };
}

function lastsForEver({ policy }: VersionPlan, { last }: ProcessPlan): boolean {
  return policy === 'Always' || last === 'runs';
}

function scriptOf(process: ProcessPlan, version: VersionPlan, attempt: number, passed: () => number): ProcessScript {
  const { times, after, code, onTerm, liveness, postStart = 0, preStop = 0, startup = 0, readiness = 0 } = process;
  const end = onTerm === 'ignored' ? onTerm : { after: onTerm, code: 0 };
  const isEarly = attempt < times;
  const begun = passed();
  const says = (isWell: boolean): number => (isWell ? 0 : 1);
  function exec([command]: readonly string[]): { readonly exitCode: number; readonly after: number } {
    const age = passed() - begun;
    switch (command as Command) {
      case 'check':
        return { exitCode: says(!isEarly || age < after), after: 30 };
      case 'startup':
        return { exitCode: says(age >= startup), after: 30 };
      case 'readiness':
        return { exitCode: says(readiness !== 'never' && age >= readiness), after: 30 };
      case 'post-start':
        return { exitCode: says(!isEarly), after: postStart };
      case 'pre-stop':
        return { exitCode: 0, after: preStop };
    }
  }
  if (isEarly && liveness) return { onTerm: end, exec };
  if (isEarly) return { onTerm: end, exits: { after, code }, exec };
  return lastsForEver(version, process) ? { onTerm: end, exec } : { onTerm: end, exits: { after, code: 0 }, exec };
}
