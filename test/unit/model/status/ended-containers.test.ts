import { describe, expect, it } from 'vitest';
import type { ContainerDetail } from '../../../../src/model/observed.ts';
import type { PodSpec } from '../../../../src/model/pod.ts';
import { nextStatus } from '../../../../src/model/status/pod-status.ts';
import { exited, observed, pod, sandbox, wanted } from '../../../marbles/fakes.ts';

/** What the status tells of how each container of a Never pod ended; `detail` is what the runtime tells of all of them. */
function ended(
  names: readonly string[],
  exitCode: number,
  detail: Partial<ContainerDetail>,
  spec: Partial<PodSpec> = {},
) {
  const containers = names.map((name) =>
    exited(exitCode, 0, {
      name,
      detail: { startedAt: 0, finishedAt: 0, exitCode, reason: '', message: '', logPath: '', ...detail },
    }),
  );
  const status = nextStatus(pod({ names, spec: { restartPolicy: 'Never', ...spec } }), undefined, {
    observed: observed({ sandboxes: [sandbox()], containers }),
    waiting: new Map(),
    probed: new Map(),
    verdict: undefined,
    runtimeName: 'containerd',
    hostIps: [],
    isEnding: false,
    now: 0,
  });
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(
    ({ state }) => state?.terminated,
  );
}

describe('a container that has ended', () => {
  it.each([
    { rule: 'a killed container is an Error with code 137', code: 137, told: 'Error', reason: 'Error' },
    { rule: 'OOMKilled is what the runtime says', code: 137, told: 'OOMKilled', reason: 'OOMKilled' },
    { rule: 'a success is Completed where the runtime says nothing', code: 0, told: '', reason: 'Completed' },
  ])('$rule', ({ code, told, reason }) => {
    expect(ended(['main'], code, { reason: told })).toMatchObject([{ exitCode: code, reason }]);
  });

  const lengths = (found: ReturnType<typeof ended>): readonly (number | undefined)[] =>
    found.map((one) => one?.message?.length);
  const long = { message: 'x'.repeat(20_000) };

  it.each([
    { rule: 'the messages of a pod have 12 KiB together', is: lengths(ended(['main'], 1, long)), expected: [12_288] },
    {
      rule: 'the containers of a pod share that evenly',
      is: lengths(ended(['a', 'b', 'c'], 1, long)),
      expected: [4_096, 4_096, 4_096],
    },
    {
      rule: 'init containers have their share of it',
      is: lengths(ended(['i', 'main'], 1, long, { initContainers: [wanted('i')], containers: [wanted('main')] })),
      expected: [6_144, 6_144],
    },
  ])('$rule', ({ is, expected }) => {
    expect(is).toEqual(expected);
  });
});
