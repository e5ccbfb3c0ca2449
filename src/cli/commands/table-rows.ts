import type { Container, PodStatus } from '../../model/pod.ts';
import type { NodeView, PodView } from '../../streams/view/node-view.ts';
import { formatAge } from './format-age.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** How well a container does: what its colour says. */
export type Health = 'good' | 'busy' | 'bad' | 'over';

/** One line of `rxlet ps`: a container of a pod. */
export interface TableRow {
  /** `name`, or `namespace/name` outside of `default`; empty below the pod's first line. */
  readonly pod: string;
  readonly container: string;
  readonly state: string;
  readonly health: Health;
  readonly restarts: string;
  readonly age: string;
  readonly ip: string;
  readonly image: string;
  /** What holds the container up; on the last line of a pod also what holds the pod up. */
  readonly note: string;
}

/** The containers of a node, by namespace and name of their pods. `now` is in milliseconds since 1970. */
export function tableRows({ pods }: NodeView, now: number): readonly TableRow[] {
  return pods
    .map((view) => ({ view, key: `${view.pod.metadata.namespace}/${view.pod.metadata.name}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .flatMap(({ view }) => podRows(view, now));
}

function podRows(view: PodView, now: number): readonly TableRow[] {
  const { metadata, spec } = view.pod;
  const { status } = view;
  const name = metadata.namespace === 'default' ? metadata.name : `${metadata.namespace}/${metadata.name}`;
  const statuses = new Map(
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map((each) => [each.name, each]),
  );
  const containers = [
    ...(spec.initContainers ?? []).filter((container) => !isDone(container, statuses.get(container.name))),
    ...spec.containers,
  ];
  return containers.map((container, index) => {
    const its = statuses.get(container.name);
    const { state, health } = stateOf(view, its);
    const first = index === 0;
    return {
      pod: first ? name : '',
      container: container.name,
      state,
      health,
      restarts: restartsOf(its, now),
      age: first && status.startTime ? formatAge(now - Date.parse(status.startTime)) : first ? '-' : '',
      ip: first ? (status.podIP ?? '-') : '',
      image: container.image ?? '',
      note: notesOf(its, index === containers.length - 1 ? (view.note ?? status.message ?? '') : ''),
    };
  });
}

/** That a container crashes is said by its state, and the message of that only names it again. */
function notesOf(its: ContainerStatus | undefined, ofPod: string): string {
  const { reason, message = '' } = its?.state?.waiting ?? {};
  const own = reason === 'CrashLoopBackOff' ? '' : message.trim();
  return [...new Set([own, ofPod])].filter((text) => text !== '').join('; ');
}

/** An init container that has done its work is no news. */
function isDone(container: Container, status: ContainerStatus | undefined): boolean {
  return container.restartPolicy !== 'Always' && status?.state?.terminated?.exitCode === 0;
}

function stateOf({ phase, status }: PodView, its: ContainerStatus | undefined): Pick<TableRow, 'state' | 'health'> {
  const { running, terminated, waiting } = its?.state ?? {};
  if (phase === 'stopped') return { state: 'Stopped', health: 'over' };
  if (phase === 'terminating' && !terminated) return { state: 'Terminating', health: 'busy' };
  if (running)
    return its?.ready === false ? { state: 'NotReady', health: 'busy' } : { state: 'Running', health: 'good' };
  if (terminated) return ended(terminated.exitCode, terminated.reason ?? '');
  const reason = waiting?.reason ?? status.reason ?? '';
  if (reason === '') return { state: phase === 'waiting' ? 'Waiting' : 'Pending', health: 'busy' };
  return { state: reason, health: IN_PROGRESS.has(reason) ? 'busy' : 'bad' };
}

const IN_PROGRESS: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

function ended(exitCode: number, reason: string): Pick<TableRow, 'state' | 'health'> {
  if (exitCode === 0) return { state: reason || 'Completed', health: 'over' };
  return { state: `${reason || 'Error'} (${exitCode})`, health: 'bad' };
}

function restartsOf(its: ContainerStatus | undefined, now: number): string {
  const count = its?.restartCount ?? 0;
  const endedAt = its?.lastState?.terminated?.finishedAt;
  return count > 0 && endedAt ? `${count} (${formatAge(now - Date.parse(endedAt))} ago)` : String(count);
}
