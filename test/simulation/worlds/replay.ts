import type { ExecSyncRequest, ListContainersRequest } from '../../../src/model/cri/api.ts';
import { POD_UID } from '../../../src/model/cri/labels.ts';
import type { PodPhase } from '../../../src/streams/book/pod-book.ts';
import type { Entry, WorldRecord } from './journal.ts';
import type { PlannedPod } from './planned-pods.ts';

/** One instance of a container. */
export interface Instance {
  readonly id: string;
  readonly uid: string;
  readonly pod: string;
  readonly name: string;
  readonly attempt: number;
  readonly sandboxId: string;
  readonly image: string;
  /** Its process counts its age from then on. */
  createdAt?: number;
  startedAt?: number;
  endedAt?: number;
  exitCode?: number;
  /** When the agent first asked it to end, or ran its preStop hook. */
  stoppedAt?: number;
  /** Another image was wanted for it since it started, and the agent that was told so is still there. */
  isOutdated?: boolean;
  isGone?: boolean;
}

/** What was so when an entry was written. */
export interface Moment {
  readonly instances: ReadonlyMap<string, Instance>;
  readonly deadSandboxes: ReadonlySet<string>;
  readonly uidOfSandbox: ReadonlyMap<string, string>;
  readonly wanted: ReadonlyMap<string, PlannedPod>;
  /** The same of every UID that was ever wanted, as it was last. */
  readonly known: ReadonlyMap<string, PlannedPod>;
  readonly phases: ReadonlyMap<string, PodPhase>;
  /** When each UID was last wanted by nobody; of those that are, since when they are. */
  readonly wantedSince: ReadonlyMap<string, number>;
  /** When the last step of a kind was done. */
  readonly lastStep: ReadonlyMap<string, number>;
  /** Since when the pods that have ended have; of those that an agent is there for. */
  readonly endedSince: ReadonlyMap<string, number>;
  /** When an agent last ended: at a crash, or when the agent that comes after an earlier crash took its place. */
  readonly agentEndedAt: number;
  /** Whether the agent can have seen that a container runs. */
  readonly isSeen: (instance: Instance) => boolean;
}

/** Goes through a record, and collects what `check` has to say of each entry at its moment. */
export function replay(
  { entries, calls }: WorldRecord,
  check: (entry: Entry, moment: Moment) => readonly string[],
): readonly string[] {
  const instances = new Map<string, Instance>();
  const deadSandboxes = new Set<string>();
  const uidOfSandbox = new Map<string, string>();
  const phases = new Map<string, PodPhase>();
  const wantedSince = new Map<string, number>();
  const endedSince = new Map<string, number>();
  const lastStep = new Map<string, number>();
  /** When the last listing was sent that was answered; '' for those of everything. */
  const listed = new Map<string, number>();
  let wanted: ReadonlyMap<string, PlannedPod> = new Map();
  const known = new Map<string, PlannedPod>();
  let agentEndedAt = -Infinity;
  const found: string[] = [];

  function isSeen({ uid, startedAt = Infinity }: Instance): boolean {
    return Math.max(listed.get(uid) ?? -1, listed.get('') ?? -1) > startedAt;
  }

  function noteOutdated(): void {
    for (const instance of instances.values()) {
      const declared = declaredOf(instance, wanted);
      if (declared && declared.image !== instance.image) instance.isOutdated = true;
    }
  }

  function learn(entry: Entry): void {
    switch (entry.kind) {
      case 'call':
        if (entry.name === 'ListContainers' && calls[entry.index]?.outcome === 'ok') {
          listed.set((entry.request as ListContainersRequest).filter?.labelSelector?.[POD_UID] ?? '', entry.at);
        }
        if (entry.name === 'StopContainer') {
          const instance = instances.get((entry.request as { readonly containerId?: string }).containerId ?? '');
          if (instance) instance.stoppedAt ??= entry.at;
        }
        if (entry.name === 'ExecSync') {
          const { containerId = '', cmd = [] } = entry.request as ExecSyncRequest;
          const instance = instances.get(containerId);
          if (instance && cmd[0] === 'pre-stop') instance.stoppedAt ??= entry.at;
        }
        return;
      case 'happening': {
        const { kind, container, sandbox } = entry.happening;
        if (!container) {
          uidOfSandbox.set(sandbox.id, sandbox.config.metadata?.uid ?? '');
          if (kind === 'exited' || kind === 'removed') deadSandboxes.add(sandbox.id);
          return;
        }
        const { id, config, sandboxId, exitCode } = container;
        const instance: Instance = instances.get(id) ?? {
          id,
          uid: sandbox.config.metadata?.uid ?? '',
          pod: sandbox.config.metadata?.name ?? '',
          name: config.metadata?.name ?? '',
          attempt: config.metadata?.attempt ?? 0,
          sandboxId,
          image: config.image?.userSpecifiedImage ?? '',
        };
        instances.set(id, instance);
        if (kind === 'created') instance.createdAt = entry.at;
        if (kind === 'started') {
          instance.startedAt = entry.at;
          noteOutdated();
        }
        if (kind === 'exited') Object.assign(instance, { endedAt: entry.at, exitCode });
        if (kind === 'removed') instance.isGone = true;
        return;
      }
      case 'step':
        lastStep.set(entry.step.do, entry.at);
        return;
      case 'wanted':
        wanted = entry.wanted;
        for (const [uid, one] of wanted) known.set(uid, one);
        for (const uid of wantedSince.keys()) if (!wanted.has(uid)) wantedSince.delete(uid);
        for (const uid of wanted.keys()) if (!wantedSince.has(uid)) wantedSince.set(uid, entry.at);
        noteOutdated();
        return;
      case 'agent':
        phases.clear();
        endedSince.clear();
        if (!entry.isUp) agentEndedAt = entry.at;
        for (const instance of instances.values()) delete instance.isOutdated;
        noteOutdated();
        return;
      case 'phase':
        if (entry.phase === 'ended') endedSince.set(entry.uid, entry.at);
        else endedSince.delete(entry.uid);
        if (entry.phase) phases.set(entry.uid, entry.phase);
        else phases.delete(entry.uid);
        return;
      case 'evicted':
      case 'oomKill':
      case 'disk':
      case 'imageGoes':
      case 'streamEnd':
        return;
    }
  }

  for (const entry of entries) {
    const told = check(entry, {
      instances,
      deadSandboxes,
      uidOfSandbox,
      wanted,
      known,
      phases,
      wantedSince,
      endedSince,
      lastStep,
      agentEndedAt,
      isSeen,
    });
    found.push(...told.map((what) => `${entry.at} ms: ${what}`));
    learn(entry);
  }
  return found;
}

/** A call that brings something of a pod to life, and whose pod that is. */
export function beginningOf(
  entry: Entry,
  { instances, uidOfSandbox }: Moment,
): { readonly call: string; readonly uid: string } | undefined {
  if (entry.kind !== 'call') return undefined;
  const request = entry.request as {
    readonly config?: { readonly metadata?: { readonly uid?: string } };
    readonly podSandboxId?: string;
  };
  const uid =
    entry.name === 'RunPodSandbox'
      ? request.config?.metadata?.uid
      : entry.name === 'CreateContainer'
        ? uidOfSandbox.get(request.podSandboxId ?? '')
        : entry.name === 'StartContainer'
          ? instances.get(idIn(request))?.uid
          : undefined;
  return uid === undefined ? undefined : { call: entry.name, uid };
}

export function idIn(request: unknown): string {
  return (request as { readonly containerId?: string }).containerId ?? '';
}

/** Milliseconds until the agent has noted for its successor what that has to know. */
export const NOTING = 3_000;

/** Whether something in this world may have kept an agent from writing down what its successor has to know. */
export function mayForget({ plan: { rates, steps } }: WorldRecord): boolean {
  return Object.keys(rates).length > 0 || steps.some((step) => step.do === 'fullDisk' || step.do === 'readOnlyDisk');
}

/** The container of a manifest that an instance is of. */
export function declaredOf(
  { uid, name }: Instance,
  wanted: ReadonlyMap<string, PlannedPod>,
): PlannedPod['pod']['spec']['containers'][number] | undefined {
  const { containers = [], initContainers = [] } = wanted.get(uid)?.pod.spec ?? {};
  return [...initContainers, ...containers].find((one) => one.name === name);
}

export function isRunning({ startedAt, endedAt }: Instance): boolean {
  return startedAt !== undefined && endedAt === undefined;
}
