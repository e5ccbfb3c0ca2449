import {
  asyncScheduler,
  catchError,
  defer,
  forkJoin,
  isObservable,
  map,
  of,
  switchMap,
  tap,
  throwError,
  type Observable,
} from 'rxjs';
import type {
  Container,
  ContainerStatus,
  LinuxContainerUser,
  PodSandbox,
  PodSandboxStatusResponse,
} from '../model/cri/api.ts';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID, SECRET_IN_COMMAND, uidLabel } from '../model/cri/labels.ts';
import { withoutCommand } from '../model/env/secret-in-command.ts';
import { RuntimeError } from '../model/errors.ts';
import type {
  ContainerDetail,
  ContainerState,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  Revision,
  Snapshot,
} from '../model/observed.ts';
import { podIpsInOrder } from '../model/pod-ips.ts';
import type { PodUid } from '../model/pod.ts';
import { takeTurns } from '../operators/take-turns.ts';
import type { EarlyStatusResponse } from './cri/known-ends.ts';
import type { Revisions } from '../streams/pleg/revisions.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Files } from '../streams/ports/files.ts';
import { terminationMessage } from './termination-message.ts';

export interface Observer {
  /** Lists everything with our labels, uninspected. */
  readonly listPods: () => Observable<Snapshot>;
  /** Lists one pod and inspects what is not known yet; `listed` spares the listing. */
  readonly observePod: (uid: PodUid, listed?: ObservedPod) => Observable<ObservedPod>;
  /** Whose container or sandbox this is, as far as it was listed before. */
  readonly ownerOf: (id: string) => PodUid | undefined;
}

/** Whose a container or sandbox is, and the newest revision in which it was seen. */
interface Owner {
  uid: PodUid;
  seenAt: Revision;
}

/** Inspections under way at the same time: many, so that a few that hang hold up no other, yet no flood for the runtime. */
const MOST_INSPECTIONS = 32;

/**
 * Looks at the runtime. What an inspection told of a container in its present state stays true, so it is remembered:
 * in the steady state observing a pod costs two list calls and nothing else. `hostIps`, the node's addresses, tell which
 * of several addresses of a pod comes first.
 */
export function observer(
  cri: Cri,
  files: Pick<Files, 'readFile'>,
  revisions: Revisions,
  hostIps: readonly string[] = [],
): Observer {
  const details = new Map<string, { readonly state: ContainerState; readonly detail: ContainerDetail }>();
  const networks = new Map<string, Pick<ObservedSandbox, 'ips' | 'hostNetwork'>>();
  const owners = new Map<string, Owner>();
  const inspections = { inTurn: takeTurns(MOST_INSPECTIONS) };

  /** What is known of it in its present state. */
  function knownContainer(container: ObservedContainer): ObservedContainer | undefined {
    const known = details.get(container.id);
    return known?.state === container.state ? { ...container, detail: known.detail } : undefined;
  }

  function inspectContainer(container: ObservedContainer): Observable<ObservedContainer | undefined> {
    return inspections.inTurn(cri.containerStatus({ containerId: container.id })).pipe(
      switchMap(({ status, early }: EarlyStatusResponse) => {
        const state = containerState(status?.state);
        const message$ = status && state === 'exited' ? terminationMessage(status, files) : of('');
        return message$.pipe(
          map((message) => {
            const detail = detailOf(status, message);
            if (early !== true && !mayBecomeOom(state, detail)) details.set(container.id, { state, detail });
            return { ...container, state, detail, ...(early === true ? { early } : {}) };
          }),
        );
      }),
      goneMeans(undefined),
    );
  }

  function knownSandbox(sandbox: ObservedSandbox): ObservedSandbox | undefined {
    const known = networks.get(sandbox.id);
    return known || sandbox.state === 'notReady' ? { ...sandbox, ...known } : undefined;
  }

  function inspectSandbox(sandbox: ObservedSandbox): Observable<ObservedSandbox | undefined> {
    return inspections.inTurn(cri.podSandboxStatus({ podSandboxId: sandbox.id })).pipe(
      map((answer) => {
        const network = networkOf(answer, hostIps);
        networks.set(sandbox.id, network);
        return { ...sandbox, ...network };
      }),
      goneMeans(undefined),
    );
  }

  function noteOwner({ uid, sandboxes, containers, revision }: ObservedPod): void {
    for (const { id } of sandboxes) note(id, uid, revision);
    for (const { id } of containers) note(id, uid, revision);
  }

  /** In place: a relist notes all that there is. */
  function note(id: string, uid: PodUid, revision: Revision): void {
    const owner = owners.get(id);
    if (!owner) {
      owners.set(id, { uid, seenAt: revision });
      return;
    }
    owner.uid = uid;
    owner.seenAt = Math.max(revision, owner.seenAt);
  }

  function inspect(pod: ObservedPod): Observable<ObservedPod> {
    noteOwner(pod);
    const sandbox$ = told(pod.sandboxes.map((one) => knownSandbox(one) ?? inspectSandbox(one)));
    const container$ = told(pod.containers.map((one) => knownContainer(one) ?? inspectContainer(one)));
    // Mostly all is known, or all but one container.
    if (!isObservable(sandbox$) && !isObservable(container$))
      return of({ ...pod, sandboxes: sandbox$, containers: container$ });
    return forkJoin([asStream(sandbox$), asStream(container$)]).pipe(
      map(([sandboxes, containers]) => ({ ...pod, sandboxes, containers })),
    );
  }

  /** What is not listed has gone, unless it was seen only after the listing had begun. */
  function keepOnly({ pods, revision }: Snapshot): void {
    for (const pod of pods.values()) noteOwner(pod);
    for (const [id, { seenAt }] of owners) if (seenAt < revision) owners.delete(id);
    for (const memory of [details, networks]) for (const id of memory.keys()) if (!owners.has(id)) memory.delete(id);
  }

  return {
    listPods: () => list(cri, revisions).pipe(tap(keepOnly)),
    observePod: (uid, listed) =>
      (listed === undefined ? listOne(cri, revisions, uid) : of(listed)).pipe(switchMap(inspect)),
    ownerOf: (id) => owners.get(id)?.uid,
  };
}

function list(cri: Cri, revisions: Revisions, uid?: PodUid): Observable<Snapshot> {
  const filter = uid === undefined ? {} : { filter: { labelSelector: { [POD_UID]: uid } } };
  return defer(() => {
    const revision = revisions.next();
    return forkJoin([cri.listPodSandbox(filter), cri.listContainers(filter)]).pipe(
      map(([{ items }, { containers }]) => snapshotOf(items ?? [], containers ?? [], revision)),
    );
  });
}

function listOne(cri: Cri, revisions: Revisions, uid: PodUid): Observable<ObservedPod> {
  return list(cri, revisions, uid).pipe(
    map(
      ({ pods, revision }) =>
        pods.get(uid) ?? { uid, name: '', namespace: '', revision, sandboxes: [], containers: [] },
    ),
  );
}

/** Groups what the runtime lists by pod. Objects without our labels belong to somebody else. */
function snapshotOf(sandboxes: readonly PodSandbox[], containers: readonly Container[], revision: Revision): Snapshot {
  const pods = new Map<PodUid, Draft>();

  function draftOf(labels: Readonly<Record<string, string>> | undefined): Draft | undefined {
    const uid = uidLabel(labels);
    if (uid === undefined) return undefined;
    const known = pods.get(uid);
    if (known) return known;
    const name = labels?.[POD_NAME] ?? '';
    const draft: Draft = {
      uid,
      name,
      namespace: labels?.[POD_NAMESPACE] ?? '',
      revision,
      sandboxes: [],
      containers: [],
    };
    pods.set(uid, draft);
    return draft;
  }

  for (const sandbox of sandboxes) draftOf(sandbox.labels)?.sandboxes.push(sandboxOf(sandbox));
  for (const container of containers) draftOf(container.labels)?.containers.push(containerOf(container));
  for (const draft of pods.values()) {
    sortNewestFirst(draft.sandboxes);
    sortNewestFirst(draft.containers);
  }
  return { revision, pods };
}

/** A pod while it is put together. */
interface Draft extends ObservedPod {
  readonly sandboxes: ObservedSandbox[];
  readonly containers: ObservedContainer[];
}

/** By the runtime's time of creation; the attempt settles what the clock leaves open or turned round. */
function sortNewestFirst(
  objects: { readonly attempt: number; readonly createdAt: number; readonly id: string }[],
): void {
  if (objects.length < 2) return;
  objects.sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
}

// proto3 leaves the first member of an enum out of the message, so what is absent is that member.

function sandboxOf({ id, metadata, state, createdAt }: PodSandbox): ObservedSandbox {
  return {
    id: id ?? '',
    attempt: metadata?.attempt ?? 0,
    state: state === 'SANDBOX_NOTREADY' ? 'notReady' : 'ready',
    createdAt: createdAt ?? 0,
  };
}

function containerOf(container: Container): ObservedContainer {
  const { id, metadata, labels, podSandboxId, state, createdAt, image, imageRef, annotations } = container;
  return {
    id: id ?? '',
    name: labels?.[CONTAINER_NAME] ?? metadata?.name ?? '',
    sandboxId: podSandboxId ?? '',
    attempt: metadata?.attempt ?? 0,
    state: containerState(state),
    createdAt: createdAt ?? 0,
    image: image?.userSpecifiedImage ?? image?.image ?? '',
    imageRef: imageRef ?? '',
    annotations: annotations ?? {},
  };
}

function containerState(state: Container['state']): ContainerState {
  switch (state) {
    case 'CONTAINER_RUNNING':
      return 'running';
    case 'CONTAINER_EXITED':
      return 'exited';
    case 'CONTAINER_UNKNOWN':
      return 'unknown';
    case 'CONTAINER_CREATED':
    case undefined:
      return 'created';
  }
}

function complaintOf({ message = '', annotations = {} }: ContainerStatus = {}): string {
  return message !== '' && SECRET_IN_COMMAND in annotations ? withoutCommand(message) : message;
}

/** Nanoseconds within which a runtime that told of an end may still find out that it was for want of memory. */
const OOM_NEWS = 3_000_000_000;

/** Containerd hears of the want of memory beside the end, sometimes after it, and changes the reason then. */
function mayBecomeOom(state: ContainerState, { exitCode, reason, finishedAt }: ContainerDetail): boolean {
  if (state !== 'exited' || exitCode !== KILLED || reason !== 'Error') return false;
  return asyncScheduler.now() * 1_000_000 - finishedAt < OOM_NEWS;
}

const KILLED = 137;

function detailOf(status: ContainerStatus | undefined, ownMessage: string): ContainerDetail {
  const { image, imageRef, user } = status ?? {};
  return {
    startedAt: status?.startedAt ?? 0,
    finishedAt: status?.finishedAt ?? 0,
    exitCode: status?.exitCode ?? 0,
    reason: status?.reason ?? '',
    message: [complaintOf(status), ownMessage].filter(Boolean).join(': '),
    logPath: status?.logPath ?? '',
    ...(image?.image ? { image: image.image } : {}),
    ...(imageRef ? { imageRef } : {}),
    ...(user?.linux ? { user: userOf(user.linux) } : {}),
  };
}

function userOf({ uid, gid, supplementalGroups }: LinuxContainerUser): NonNullable<ContainerDetail['user']> {
  return { uid: uid ?? 0, gid: gid ?? 0, supplementalGroups: supplementalGroups ?? [] };
}

function networkOf(
  { status }: PodSandboxStatusResponse,
  hostIps: readonly string[],
): Pick<ObservedSandbox, 'ips' | 'hostNetwork'> {
  const { ip, additionalIps } = status?.network ?? {};
  const ips = [ip ?? '', ...(additionalIps ?? []).map((additional) => additional.ip ?? '')].filter(Boolean);
  return { ips: podIpsInOrder(ips, hostIps), hostNetwork: status?.linux?.namespaces?.options?.network === 'NODE' };
}

/** Something may go between its listing and its inspection; then it is simply not there. */
function goneMeans<T, G>(gone: G): (source$: Observable<T>) => Observable<T | G> {
  return catchError((error: unknown) =>
    error instanceof RuntimeError && error.kind === 'notFound' ? of(gone) : throwError(() => error),
  );
}

/** What is known, and what is to be asked for, side by side; what has gone meanwhile is left out. Known things cost no stream. */
function told<T extends { readonly id: string }>(
  things: readonly (T | Observable<T | undefined>)[],
): readonly T[] | Observable<readonly T[]> {
  const asked = things.filter((thing) => isObservable(thing));
  if (asked.length === 0) return things.filter((thing): thing is T => !isObservable(thing));
  return forkJoin(asked).pipe(
    map((answers) => {
      const coming = answers.values();
      return things
        .map((thing) => (isObservable(thing) ? coming.next().value : thing))
        .filter((thing) => thing !== undefined);
    }),
  );
}

function asStream<T>(value: T | Observable<T>): Observable<T> {
  return isObservable(value) ? value : of(value);
}
