import { CONFIG_SOURCE } from '../../model/config-annotations.ts';
import { describeProblem, type Problem } from '../../model/desired.ts';
import type { Pod, PodSpec, PodStatus } from '../../model/pod.ts';
import type { PodEvent } from '../../streams/events/event-log.ts';
import type { PodView } from '../../streams/view/node-view.ts';
import type { Terminal } from '../terminal.ts';
import { describeContainer } from './describe-container.ts';
import { describeTime } from './describe-time.ts';
import { formatAge } from './format-age.ts';
import { renderBlock, type Block, type Row } from './key-values.ts';
import { renderEvents } from './render-events.ts';
import { wrap } from './wrap.ts';

export interface PodPicture {
  readonly view: PodView;
  readonly events: readonly PodEvent[];
  readonly problems: readonly Problem[];
}

/** A pod as `kubectl describe` prints it, what is wrong first. `now` is in milliseconds since 1970. */
export function renderPod({ view, events, problems }: PodPicture, now: number, terminal: Terminal): readonly string[] {
  const { pod, status, note, phase } = view;
  const { metadata, spec } = pod;
  const wrong = problems.flatMap((problem) => wrap(describeProblem(problem), terminal.columns, '', '  '));
  const look = { now, columns: terminal.columns };
  return [
    ...(wrong.length > 0 ? [...wrong, ''] : []),
    ...renderBlock([
      ['Name', metadata.name],
      ['Namespace', metadata.namespace],
      ['UID', metadata.uid],
      ['Node', spec.nodeName ?? ''],
      ['Source', metadata.annotations[CONFIG_SOURCE] ?? ''],
      ['Start Time', startOf(status, now)],
      ['Labels', pairs(metadata.labels)],
      ['Annotations', pairs(ownAnnotations(pod))],
      ['Status', STATUS[phase] ?? status.phase ?? 'Pending'],
      status.reason ? ['Reason', status.reason] : undefined,
      status.message ? ['Message', status.message] : undefined,
      note === undefined ? undefined : ['Note', wrap(note, Math.max(20, terminal.columns - 18), '', '')],
      ['IP', (status.podIPs ?? []).map(({ ip }) => ip).join(', ') || (status.podIP ?? '-')],
      ['QoS Class', status.qosClass ?? '-'],
      spec.priority === undefined ? undefined : ['Priority', String(spec.priority)],
      ...containers('Init Containers', spec.initContainers, status.initContainerStatuses, look),
      ...containers('Containers', spec.containers, status.containerStatuses, look),
    ]),
    ...conditions(status),
    ...renderBlock([volumes(spec)]),
    'Events:',
    ...(events.length === 0 ? ['  <none>'] : renderEvents(events, now, terminal, { indent: '  ' })),
  ];
}

const STATUS: Readonly<Partial<Record<PodView['phase'], string>>> = {
  terminating: 'Terminating',
  stopped: 'Stopped',
};

function startOf({ startTime }: PodStatus, now: number): string {
  return startTime ? `${describeTime(startTime)} (${formatAge(now - Date.parse(startTime))} ago)` : '-';
}

/** Without those by which rxlet marks where the pod comes from. */
function ownAnnotations({ metadata }: Pod): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(metadata.annotations).filter(([name]) => !name.startsWith('kubernetes.io/config.')),
  );
}

function pairs(map: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(map).map(([name, value]) => `${name}=${value.includes('\n') ? JSON.stringify(value) : value}`);
}

function containers(
  title: string,
  list: PodSpec['containers'] | undefined,
  statuses: PodStatus['containerStatuses'],
  { now, columns }: { readonly now: number; readonly columns: number },
): Block {
  if (!list || list.length === 0) return [];
  const rows = list.map((one) =>
    describeContainer(
      one,
      statuses?.find(({ name }) => name === one.name),
      now,
      columns,
    ),
  );
  return [[title, { block: rows }]];
}

function conditions({ conditions: list = [] }: PodStatus): readonly string[] {
  const width = Math.max(4, ...list.map(({ type }) => type.length));
  const lines = list.map(
    ({ type, status, reason }) => `  ${type.padEnd(width)}  ${status}${reason ? ` (${reason})` : ''}`,
  );
  return ['Conditions:', ...(lines.length > 0 ? [`  ${'Type'.padEnd(width)}  Status`, ...lines] : ['  <none>'])];
}

function volumes({ volumes: list = [] }: PodSpec): Row {
  if (list.length === 0) return ['Volumes', []];
  return ['Volumes', { block: list.map(({ name, ...source }): Row => [name, describeSource(source)]) }];
}

/** `hostPath path=/srv type=Directory`: the kind of the volume, then what is said of it in the manifest. */
function describeSource(source: Readonly<Record<string, unknown>>): string {
  return Object.entries(source)
    .filter(([, value]) => value !== undefined)
    .map(([kind, value]) =>
      `${kind} ${Object.entries(value ?? {})
        .map(([field, one]) => `${field}=${plain(one)}`)
        .join(' ')}`.trim(),
    )
    .join(', ');
}

function plain(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
