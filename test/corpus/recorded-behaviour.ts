import { defer, of, throwError, type Observable } from 'rxjs';
import type { ProbeAnswer, ProbeKind, ProbePorts } from '../../src/streams/probes/probe.ts';
import type { Http } from '../../src/streams/ports/http.ts';
import type { Fault, SimulatedCall } from '../../src/simulation/faults.ts';
import type { MemoryDisk } from '../../src/simulation/memory-disk.ts';
import type { ContainerBehaviour, ProcessScript, StartingContainer } from '../../src/simulation/process-script.ts';
import type { CreateContainerRequest, RunPodSandboxRequest } from '../../src/model/cri/api.ts';
import type { Happening } from '../../src/simulation/node-objects.ts';
import { PATHS } from './recorded-node.ts';
import type { CaseRecord, PodRecord, RecordedCall, RecordedContainer } from './record.ts';

/** One container of the recording, from its creation to its end. */
interface Instance {
  readonly name: string;
  readonly attempt: number;
  readonly command: readonly string[];
  readonly createError?: string;
  readonly start?: RecordedCall;
  /** Seconds at which its start was told, and milliseconds that it took from its creation on. */
  readonly startedAt?: number;
  readonly startTime?: number;
  readonly stop?: RecordedCall;
  readonly execs: readonly RecordedCall[];
  readonly end?: RecordedContainer;
  /** Seconds at which the next one of its name was made. */
  readonly nextAt?: number;
}

export interface RecordedBehaviour {
  readonly http: Http;
  /** Probes by network; those that run a command ask the simulated runtime. */
  readonly probe: ProbePorts['probe'];
  readonly containers: ContainerBehaviour;
  readonly faults: (call: SimulatedCall) => Fault | undefined;
  /** Leaves on the disk what a container wrote to its log and its volumes, when it ends. */
  readonly leaveLog: (happening: Happening, disk: MemoryDisk) => void;
}

/** Lets the processes of the simulated node do what those of the recording did. */
export function recordedBehaviour(record: CaseRecord): RecordedBehaviour {
  const pods = [record, ...(record.others ?? [])];
  const podOf = (name: string): PodRecord => pods.find(({ pod }) => pod?.metadata.name === name) ?? record;
  const instances = new Map(pods.map((pod) => [pod, instancesOf(pod)]));
  const made = new Map<string, number>();
  const sandboxes = new Map<string, number>();

  /** The same name and attempt may come again in a later sandbox or under another UID. */
  function next(pod: string, name: string, attempt: number): Instance | undefined {
    const all = (instances.get(podOf(pod)) ?? []).filter((instance) => instance.name === name);
    const key = `${pod}/${name}#${attempt}`;
    const nth = made.get(key) ?? 0;
    made.set(key, nth + 1);
    const same = all.filter((instance) => instance.attempt === attempt);
    // What was not recorded does as the last one that was.
    return same[nth] ?? same.at(-1) ?? all.at(-1);
  }

  function fault({ name, request }: SimulatedCall): Fault | undefined {
    if (name === 'RunPodSandbox') {
      const pod = (request as RunPodSandboxRequest).config?.metadata?.name ?? '';
      const nth = sandboxes.get(pod) ?? 0;
      sandboxes.set(pod, nth + 1);
      const calls = podOf(pod).cri.filter(({ call }) => call === name);
      return refusal((calls[nth] ?? calls.at(-1))?.error?.message);
    }
    if (name === 'CreateContainer') {
      const { config, sandboxConfig } = request as CreateContainerRequest;
      const all = (instances.get(podOf(sandboxConfig?.metadata?.name ?? '')) ?? []).filter(
        (instance) => instance.name === config?.metadata?.name && instance.attempt === (config.metadata.attempt ?? 0),
      );
      const [made] = all;
      return refusal(made?.createError) ?? slow(made);
    }
    return undefined;
  }

  /** Nothing listens where a hook found nobody at the recording. */
  const hooksFail = pods.some(({ events = [] }) => events.some(({ reason }) => /^Failed\w+Hook$/.test(reason)));

  return {
    http: {
      get: ({ host, port }) =>
        defer(() => (hooksFail ? throwError(() => new Error(`connect ECONNREFUSED ${host}:${port}`)) : of(200))),
    },
    probe: ({ pod, container, kind }) => defer(() => probeAnswer(podOf(pod.metadata.name), container.name, kind)),
    containers: (starting) => {
      const record = podOf(starting.pod.name);
      return scriptOf(next(starting.pod.name, starting.name, starting.attempt), record, starting);
    },
    faults: fault,
    leaveLog: ({ kind, sandbox, container }, disk) => {
      const { logPath, mounts = [] } = container?.config ?? {};
      if (kind !== 'exited' || logPath === undefined) return;
      const pod = podOf(sandbox.config.metadata?.name ?? '');
      for (const [path, content] of Object.entries(pod.files?.volumeFiles ?? {})) {
        const file = `${PATHS.rootDir}/pods/${sandbox.config.metadata?.uid ?? ''}/${path}`;
        if (mounts.some(({ hostPath = '' }) => hostPath !== '' && file.startsWith(`${hostPath}/`)))
          disk.put(file, { type: 'file', mode: 0o644, content });
      }
      const lines = pod.logs?.[logPath];
      if (!lines) return;
      const { name = '' } = container?.config.metadata ?? {};
      const cutOff = lines.length < MOST_LINES ? [] : messageIn(pod, name).split('\n').slice(0, -1);
      const all = [...lines, ...cutOff.map((line) => `stdout F ${line}`)];
      const content = all.map((line) => `2026-01-01T00:00:00.000000000Z ${line}\n`).join('');
      disk.put(`${sandbox.config.logDirectory ?? ''}/${logPath}`, { type: 'file', mode: 0o640, content });
    },
  };
}

/** A probe by network goes as its events tell: one that was never told of succeeded. */
function probeAnswer({ events = [] }: PodRecord, container: string, kind: ProbeKind): Observable<ProbeAnswer> {
  const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} probe `;
  const told = events.findLast(({ field, message }) => field.endsWith(`{${container}}`) && message.startsWith(title));
  const [, how = '', output = ''] = /^\w+ probe (failed|warning|errored[^:]*): ?(.*)$/s.exec(told?.message ?? '') ?? [];
  if (how === '') return of({ result: 'success', output: '' });
  if (how === 'failed') return of({ result: 'failure', output });
  return how === 'warning' ? of({ result: 'warning', output }) : throwError(() => new Error(output));
}

/**
 * A restart takes as long as on the machine of the recording, so that as many of them find room until its end. The
 * comparison of timelines makes up for the time of the first start.
 */
function slow(instance: Instance | undefined): Fault | undefined {
  if (instance?.startTime === undefined || instance.attempt === 0) return undefined;
  return { kind: 'slow', by: instance.startTime };
}

/** Milliseconds that the slowest restart of each container took, from its creation to its start. */
export function restartTimes(record: PodRecord): ReadonlyMap<string, number> {
  const slowest = new Map<string, number>();
  for (const { name, attempt, startTime = 0 } of instancesOf(record))
    if (attempt > 0) slowest.set(name, Math.max(slowest.get(name) ?? 0, startTime));
  return slowest;
}

function refusal(message: string | undefined): Fault | undefined {
  return message === undefined ? undefined : { kind: 'fail', error: 'refused', message };
}

function instancesOf({ cri, containers, timeline, events = [] }: PodRecord): readonly Instance[] {
  const ends = [...containers];
  return cri.flatMap((made): readonly Instance[] => {
    if (made.call !== 'CreateContainer' || made.name === undefined) return [];
    const { name, attempt = 0, container: id } = made;
    const index = ends.findIndex((end) => end.name === name && end.attempt === attempt);
    const [end = endIn(timeline, name, attempt)] = index < 0 ? [] : ends.splice(index, 1);
    const of = (call: string): RecordedCall | undefined =>
      cri.find((other) => other.call === call && other.container_id === id && other.t >= made.t);
    const start = of('StartContainer');
    const stop = of('StopContainer');
    const nextAt = cri.find((other) => other.call === 'CreateContainer' && other.name === name && other.t > made.t)?.t;
    const startedAt = events.find(
      ({ reason, field, t }) =>
        reason === 'Started' && field.endsWith(`{${name}}`) && t >= made.t && t <= (nextAt ?? Infinity),
    )?.t;
    const { command = [], args = [] } = (end?.config ?? {}) as {
      command?: readonly string[];
      args?: readonly string[];
    };
    return [
      {
        name,
        attempt,
        command: [...command, ...args],
        execs: cri.filter(({ call, container }) => call === 'ExecSync' && container === id),
        ...(made.error && { createError: made.error.message }),
        ...(start && { start }),
        ...(stop && { stop }),
        ...(startedAt !== undefined && { startedAt, startTime: (startedAt - made.t) * 1_000 }),
        ...(end && { end }),
        ...(nextAt !== undefined && { nextAt }),
      },
    ];
  });
}

/** Of a container that was left out of the recording its statuses may tell the end. */
function endIn(timeline: PodRecord['timeline'], name: string, attempt: number): RecordedContainer | undefined {
  for (const moment of timeline) {
    const seen = { ...moment.initContainers, ...moment.containers }[name];
    const [, reason = '', code] = /^terminated:(.*):(\d+)$/.exec(seen?.state ?? '') ?? [];
    if (seen?.restartCount === attempt && code !== undefined)
      return { name, attempt, state: 'EXITED', exitCode: Number(code), reason };
  }
  return undefined;
}

function scriptOf(
  instance: Instance | undefined,
  record: PodRecord,
  { config, name }: StartingContainer,
): ProcessScript {
  if (!instance) return {};
  const kept = Object.entries(record.files?.terminationLogs ?? {}).find(([path]) => path.split('/')[1] === name)?.[1];
  const message = kept === undefined ? undefined : wholeOf(kept, messageIn(record, name));
  const exits = exitOf(instance, record, [...(config.command ?? []), ...(config.args ?? [])]);
  return {
    onTerm: onTermOf(instance),
    exec: answers(instance.execs),
    ...(instance.start?.error && { startError: instance.start.error.message }),
    ...(message && { terminationMessage: message }),
    ...(exits && { exits }),
  };
}

/** What the recording keeps of a termination log (characters) and of a log (lines): the rest is cut off. */
const LONGEST_KEPT = 5_000;
const MOST_LINES = 60;

/**
 * What a container left, of which the beginning was kept and, as the message that was shown, a part of the last 4,096
 * characters from their first on: so where the message begins tells how long the whole was.
 */
function wholeOf(kept: string, message: string): string {
  if (kept.length < LONGEST_KEPT) return kept;
  const starts = Array.from({ length: kept.length + 1 }, (_, index) => index);
  const at = starts.find((index) => message.startsWith(kept.slice(index)) || kept.startsWith(message, index)) ?? 0;
  const known = `${kept.slice(0, at)}${message}`;
  return `${known}${kept.slice(known.length)}`.padEnd(at + LONGEST_MESSAGE, '?');
}

const LONGEST_MESSAGE = 4_096;

/** The end of what a container left, as its status showed it. */
function messageIn({ pod }: PodRecord, container: string): string {
  const status = pod?.status as { readonly containerStatuses?: readonly Ended[] } | undefined;
  return status?.containerStatuses?.find(({ name }) => name === container)?.state?.terminated?.message ?? '';
}

interface Ended {
  readonly name: string;
  readonly state?: { readonly terminated?: { readonly message?: string } };
}

const KILLED = 137;

/** What was stopped and was not killed had listened to SIGTERM. */
function onTermOf({ stop, end }: Instance): NonNullable<ProcessScript['onTerm']> {
  const code = end?.atEnd?.exitCode ?? end?.exitCode;
  if (!stop || code === undefined || code === null || code === KILLED) return 'ignored';
  return { after: Math.max(10, (stop.took ?? 0) * 1_000 - 100), code };
}

function exitOf(instance: Instance, record: PodRecord, command: readonly string[]): ProcessScript['exits'] {
  const { start, stop, end, nextAt, name, attempt } = instance;
  const code = end?.exitCode;
  const isOver = end && (end.state === 'EXITED' || end.state === 'REMOVED') && typeof code === 'number';
  if (!start || start.error || !isOver) return undefined;
  const startedAt = instance.startedAt ?? start.t + (start.took ?? 0);
  const seenAt = record.timeline.find(({ containers }) => {
    const state = containers?.[name];
    if (!state) return false;
    const isThis = state.restartCount === attempt && !state.state.startsWith('running') && !isBefore(state.state);
    return state.restartCount > attempt || isThis;
  })?.t;
  const latest = Math.min(seenAt ?? Infinity, nextAt ?? Infinity);
  // Only what runs is stopped: so it did not end by itself.
  if (stop && stop.t <= latest) return undefined;
  const asleep = sleepOf(command);
  const within = Number.isFinite(latest) ? latest - startedAt : asleep;
  const after = asleep <= within + 0.5 ? asleep : Math.max(0, within - 0.8);
  return { after: Math.round(after * 1_000) + 50, code, ...(end.reason ? { reason: end.reason } : {}) };
}

function isBefore(state: string): boolean {
  return BEFORE_ITS_START.has(state);
}

/** A container that is to start anew with all others has the number of the next one already. */
const BEFORE_ITS_START = new Set([
  'waiting',
  'waiting:ContainerCreating',
  'waiting:PodInitializing',
  'waiting:RestartingAllContainers',
]);

/** Seconds that a script sleeps, in all. */
function sleepOf(command: readonly string[]): number {
  const sleeps = command.join(' ').matchAll(/\bsleep[ ,]+(\d+(?:\.\d+)?)/g);
  return [...sleeps].reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

/** Commands are answered in the order of the recording; the last answer holds for all that come after. */
function answers(execs: readonly RecordedCall[]): NonNullable<ProcessScript['exec']> {
  const all = execs.flatMap((exec) => Array.from({ length: exec.times ?? 1 }, () => exec));
  const asked = new Map<string, number>();
  return (command) => {
    const key = command.join('\0');
    const same = all.filter(({ cmd }) => cmd?.join('\0') === key);
    const nth = asked.get(key) ?? 0;
    asked.set(key, nth + 1);
    const answer = same[nth] ?? same.at(-1);
    // The recording machine was slow to answer, yet the answer counted: so it comes in time.
    const longest = (answer?.timeout ?? 0) > 0 ? (answer?.timeout ?? 0) * 500 : Infinity;
    return { exitCode: answer?.exitCode ?? 0, after: Math.min(longest, Math.round((answer?.took ?? 0) * 1_000)) };
  };
}
