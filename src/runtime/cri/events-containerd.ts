import { defer, filter, map, switchMap, type Observable } from 'rxjs';
import type { Became } from '../../streams/pleg/hint.ts';
import { codecs, type Codec } from '../protobuf/codec.ts';
import { callStream } from './call-stream.ts';
import { channel } from './channel.ts';
import { containerdEventsDescriptor } from './descriptor.ts';
import { servicesIn, type Methods } from './services.ts';
import { stringField } from './string-field.ts';
import type { TaskEnd } from './known-ends.ts';

/** Something happened to this container or sandbox; look again. */
export interface TaskHint {
  readonly containerId: string;
  /** Absent where it goes on as before. */
  readonly became?: Became;
  /** Where this tells how it has ended. */
  readonly ended?: TaskEnd;
}

/** See containerd-events.proto; absent means empty. */
interface TaskExit {
  readonly exitStatus?: number;
  readonly exitedAt?: { readonly seconds?: number; readonly nanos?: number };
}

/** See containerd-events.proto; absent means empty. */
interface Envelope {
  readonly namespace?: string;
  readonly topic?: string;
  readonly event?: { readonly value?: Uint8Array };
}

type EventsMethods = Methods<{
  readonly Subscribe: { readonly request: { readonly filters: readonly string[] }; readonly answer: Envelope };
}>;

/** What a container does by itself. Everything else that happens to it, the agent has asked for. */
const TOPICS = {
  all: ['/tasks/start', '/tasks/exit', '/tasks/oom', '/tasks/delete'],
  ends: ['/tasks/exit'],
} as const;
/** A task goes when it has ended; its container stays. */
const BECAME: ReadonlyMap<string | undefined, Became> = new Map([
  ['/tasks/start', 'started'],
  ['/tasks/exit', 'stopped'],
  ['/tasks/delete', 'stopped'],
]);
/** In which field an event names the one process that it is about. */
const PROCESS_FIELD: ReadonlyMap<string | undefined, number> = new Map([
  ['/tasks/exit', 2],
  ['/tasks/delete', 5],
]);
/** Where containerd keeps what it runs for the CRI. */
export const CONTAINERD_NAMESPACE = 'k8s.io';

/**
 * Emits a hint whenever a task starts, ends, goes or runs out of memory, or only when it ends, from containerd's own
 * event service on the same socket: for containerd 1.6, whose CRI has no events, and since this tells ends sooner. Processes that were added to a container by an exec (probes,
 * shells) give none. Hints may be lost or doubled and say nothing about the
 * present; they are a reason to list sooner. Never completes: errors with a `RuntimeError` when the stream is cut,
 * of kind `unimplemented` on other runtimes.
 */
export function containerdTaskHints(endpoint: string, about: keyof typeof TOPICS = 'all'): Observable<TaskHint> {
  return defer(() => {
    const { Subscribe } = servicesIn(containerdEventsDescriptor)(
      'containerd.services.events.v1.Events',
    ) as EventsMethods;
    const filters = TOPICS[about].map((topic) => `namespace==${CONTAINERD_NAMESPACE},topic=="${topic}"`);
    return channel(endpoint).pipe(switchMap((client) => callStream(client, Subscribe, { filters })));
  }).pipe(
    map((envelope): TaskHint => {
      const containerId = containerOf(envelope);
      const became = BECAME.get(envelope.topic);
      return { containerId, ...(became ? { became } : {}), ...(containerId === '' ? {} : endIn(envelope)) };
    }),
    filter(({ containerId }) => containerId !== ''),
  );
}

/** Empty for what is of no interest. */
function containerOf({ topic, event }: Envelope): string {
  const value = event?.value ?? new Uint8Array();
  const containerId = stringField(value, CONTAINER_ID);
  const processField = PROCESS_FIELD.get(topic);
  const process = processField === undefined ? '' : stringField(value, processField);
  // The first process of a container carries its id, or none.
  return process === '' || process === containerId ? containerId : '';
}

const CONTAINER_ID = 1;

function endIn({ topic, event }: Envelope): Pick<TaskHint, 'ended'> {
  if (topic !== '/tasks/exit' || !event?.value) return {};
  const { exitStatus = 0, exitedAt } = taskExit().decode(event.value) as TaskExit;
  if (!exitedAt) return {};
  const { seconds = 0, nanos = 0 } = exitedAt;
  return { ended: { exitCode: exitStatus, finishedAt: seconds * 1_000_000_000 + nanos } };
}

let decoder: Codec | undefined;

function taskExit(): Codec {
  return (decoder ??= codecs(containerdEventsDescriptor)('containerd.services.events.v1.TaskExit'));
}
