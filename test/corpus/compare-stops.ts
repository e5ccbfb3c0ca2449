import type { Container } from '../../src/model/pod.ts';
import type { Decoded } from './compare-spec.ts';
import type { Gap } from './diff.ts';
import type { CaseLife } from './live-case.ts';
import { withoutNumbers } from './normalise.ts';
import type { PodRecord } from './record.ts';

/** Milliseconds since the manifests appeared: when they were taken away, at the recording and with us. */
export interface Moments {
  readonly removedAt: number;
  readonly until: number;
}

/**
 * How many seconds a container gets to end, by the first StopContainer for each: of those before the manifests were
 * taken away, and of those for that reason.
 */
export function compareGraces(
  record: PodRecord,
  pod: string,
  life: CaseLife,
  { removedAt, until }: Moments,
): readonly Gap[] {
  const recorded = new Map<string, number>();
  for (const { call, container_id = '', timeout = 0, t } of record.cri) {
    if (call !== 'StopContainer') continue;
    const name = `${withoutNumbers(container_id)}${t * 1_000 < removedAt - ROUNDED ? '' : AT_THE_END}`;
    if (!recorded.has(name)) recorded.set(name, timeout);
  }
  const ours = new Map<string, number>();
  for (const { at, containerId, timeout } of life.stops) {
    if (life.containerPods.get(containerId) !== pod) continue;
    const name = `${placeholderOf(containerId, life)}${at < until ? '' : AT_THE_END}`;
    if (!ours.has(name)) ours.set(name, timeout);
  }
  return [...recorded].flatMap(([name, expected]): readonly Gap[] => {
    const got = ours.get(name);
    return got === undefined || Math.abs(got - expected) <= 1
      ? []
      : [{ path: `StopContainer ${name} (s)`, expected, got }];
  });
}

/** The recording tells that moment by a tenth of a second. */
const ROUNDED = 100;

const AT_THE_END = ' when the manifests are taken away';

/**
 * How often a liveness or startup probe failed until its container was stopped for it. Times are those of a slow
 * machine, and this is the number that they are made of: it is the very one of the manifest. Probes by network are not
 * in the recording.
 */
export function compareFailedProbes(
  { cri, events = [] }: PodRecord,
  pod: string,
  life: CaseLife,
  { pods }: Decoded,
): readonly Gap[] {
  const containers = pods
    .filter(({ metadata: { name, namespace } }) => `${namespace}/${name}` === pod)
    .flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);
  return cri.flatMap(({ call, container_id: id = '', t }): readonly Gap[] => {
    const [, name = ''] = /^<CONTAINER_ID:([^>#@/:]+)/.exec(id) ?? [];
    const killed = events.findLast(({ reason, field, t: at }) => isOf(field, name) && reason === 'Killing' && at <= t);
    if (call !== 'StopContainer' || !/failed (?:liveness|startup) probe/.test(killed?.message ?? '')) return [];
    const key = withoutNumbers(id);
    const stop = life.stops.find(
      ({ containerId }) => life.containerPods.get(containerId) === pod && placeholderOf(containerId, life) === key,
    );
    if (!stop) return [];
    const theirs = cri.flatMap((each) =>
      each.call === 'ExecSync' && each.container === id && each.t <= t
        ? Array.from({ length: each.times ?? 1 }, () => ({ command: each.cmd ?? [], exitCode: each.exitCode ?? 0 }))
        : [],
    );
    const ours = life.execs.filter(({ containerId, at }) => containerId === stop.containerId && at <= stop.at);
    return containers
      .filter((container) => container.name === name)
      .flatMap(killersOf)
      .flatMap(({ command, period }) => {
        const expected = failuresOf(theirs.filter((each) => textOf(each.command) === command));
        const got = failuresOf(
          inStep(
            ours.filter((each) => textOf(each.command) === command),
            period,
          ),
        );
        return expected === 0 || expected === got
          ? []
          : [{ path: `failures of ${command} before the stop of ${key}`, expected, got }];
      });
  });
}

/** Without the question that we ask as soon as a container has started, out of step, and that may only help it. */
function inStep<T extends { readonly askedAt: number }>(all: readonly T[], period: number): readonly T[] {
  const [first, second] = all;
  if (!first || !second) return all;
  const beside = (second.askedAt - first.askedAt) % period;
  return Math.min(beside, period - beside) < 1 ? all : all.slice(1);
}

function isOf(field: string, container: string): boolean {
  return field.endsWith(`{${container}}`);
}

/** The commands whose failure ends a container, and nothing but that; periods are in milliseconds. */
function killersOf({ livenessProbe, startupProbe, readinessProbe }: Container): readonly {
  readonly command: string;
  readonly period: number;
}[] {
  const harmless = textOf(readinessProbe?.exec?.command ?? []);
  return [livenessProbe, startupProbe].flatMap((probe) => {
    const command = textOf(probe?.exec?.command ?? []);
    return command === '' || command === harmless ? [] : [{ command, period: 1_000 * (probe?.periodSeconds ?? 10) }];
  });
}

/** How often a command failed in a row, until nothing was asked any more. */
function failuresOf(all: readonly { readonly exitCode: number }[]): number {
  return all.length - 1 - all.findLastIndex(({ exitCode }) => exitCode === 0);
}

function textOf(command: readonly string[]): string {
  return command.join(' ');
}

function placeholderOf(containerId: string, { containerNames }: CaseLife): string {
  return `<CONTAINER_ID:${containerNames.get(containerId) ?? ''}>`;
}
