import { describe, expect, it } from 'vitest';
import { instanceToEnter, instanceToRead } from '../../../../src/model/logs/instance-of.ts';
import type { PodStatus } from '../../../../src/model/pod.ts';
import { containerStatus } from '../../cli/commands/views.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

function status(state: ContainerStatus['state'], before?: string): PodStatus {
  const lastState = before === undefined ? {} : { terminated: { containerID: before, exitCode: 1 } };
  return { containerStatuses: [containerStatus('c', state, { containerID: 'containerd://now', lastState })] };
}

describe('instanceToRead', () => {
  it.each([
    ['the one that runs', status({ running: {} }, 'containerd://old'), 'now', true],
    ['the one that has ended', status({ terminated: { exitCode: 1, containerID: 'cri-o://end' } }), 'end', false],
    ['the one before a wait', status({ waiting: { reason: 'CrashLoopBackOff' } }, 'containerd://old'), 'old', false],
    [
      'the one before an end without an instance',
      status({ terminated: { exitCode: 1 } }, 'containerd://old'),
      'old',
      false,
    ],
  ])('is %s', (_what, its, containerId, running) => {
    expect(instanceToRead(its, 'c', false)).toEqual({ kind: 'found', containerId, running });
  });

  it('is found among init containers, too', () => {
    const { containerStatuses: initContainerStatuses = [] } = status({ running: {} });
    expect(instanceToRead({ initContainerStatuses }, 'c', false)).toMatchObject({ containerId: 'now' });
  });

  it('names what holds up a container that has not started', () => {
    expect(instanceToRead(status({ waiting: { reason: 'ErrImagePull' } }), 'c', false)).toEqual({
      kind: 'notYet',
      message: 'container c has not started yet: ErrImagePull',
    });
  });
});

describe('instanceToEnter', () => {
  it('is only one that runs', () => {
    expect(instanceToEnter(status({ running: {} }), 'c')).toMatchObject({ containerId: 'now' });
    expect(instanceToEnter(status({ terminated: { exitCode: 0, reason: 'Completed' } }, 'x://old'), 'c')).toEqual({
      kind: 'notYet',
      message: 'container c is not running: Completed',
    });
  });
});
