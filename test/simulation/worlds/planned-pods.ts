import { asyncScheduler } from 'rxjs';
import type { Pod } from '../../../src/model/pod.ts';
import type { ContainerBehaviour, ProcessScript } from '../../../src/simulation/process-script.ts';
import { declared, execProbe, podOf } from '../pod-stories.ts';
import type { ProcessPlan, VersionPlan, WorldPlan } from './world-plan.ts';

/** The manifest of one pod of a world as it stands in the folder at some time. */
export interface PlannedPod {
  readonly pod: Pod;
  readonly version: VersionPlan;
}

const IMAGES = ['busybox:1.35', 'busybox:1', 'busybox:2'] as const;
export const MOUNT = { name: 'm', mountPath: '/m' };

export function plannedPod({ pods }: WorldPlan, number: number, versionNumber: number): PlannedPod {
  const index = number % pods.length;
  const { fixedUid, versions } = existing(pods[index]);
  const wanted = versionNumber % versions.length;
  const version = existing(versions[fixedUid ? 0 : wanted]);
  const name = `p${index}`;
  const image = IMAGES[fixedUid ? wanted : 0] ?? IMAGES[0];
  const mounts = version.volume ? { volumeMounts: [MOUNT] } : {};
  const spec = {
    restartPolicy: version.policy,
    terminationGracePeriodSeconds: version.grace,
    containers: version.containers.map(({ liveness }, place) =>
      declared(`c${place}`, { image, ...mounts, ...(liveness ? { livenessProbe: execProbe() } : {}) }),
    ),
    ...(version.init ? { initContainers: [declared('init', { image, ...mounts })] } : {}),
    ...(version.volume ? { volumes: [{ name: MOUNT.name, emptyDir: { medium: 'Memory' } }] } : {}),
  };
  const uid = fixedUid ? name : `${name}-${wanted}`;
  return { pod: podOf(name, spec, uid), version };
}

function existing<T>(planned: T | undefined): T {
  if (planned === undefined) throw new Error('a world has at least one pod of one version');
  return planned;
}

/** What every container of a world does. */
export function behaviourOf(plan: WorldPlan): ContainerBehaviour {
  return ({ name, attempt, pod: { uid } }) => {
    const [, index = '0', version = '0'] = /^p(\d)-?(\d)?$/.exec(uid) ?? [];
    const { version: of } = plannedPod(plan, Number(index), Number(version));
    const process = of.containers[Number(name.slice(1))];
    return process ? scriptOf(process, of, attempt) : { exits: { after: 300, code: 0 } };
  };
}

export function lastsForEver({ policy }: VersionPlan, { last }: ProcessPlan): boolean {
  return policy === 'Always' || last === 'runs';
}

function scriptOf(process: ProcessPlan, version: VersionPlan, attempt: number): ProcessScript {
  const { times, after, code, onTerm, liveness } = process;
  const end = onTerm === 'ignored' ? onTerm : { after: onTerm, code: 0 };
  const isEarly = attempt < times;
  if (isEarly && liveness) {
    const begun = asyncScheduler.now();
    return { onTerm: end, exec: () => ({ exitCode: asyncScheduler.now() - begun < after ? 0 : 1, after: 30 }) };
  }
  if (isEarly) return { onTerm: end, exits: { after, code } };
  return lastsForEver(version, process) ? { onTerm: end } : { onTerm: end, exits: { after, code: 0 } };
}
