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
    [
      'the log of a container that runs is that of the instance that runs',
      status({ running: {} }, 'containerd://old'),
      'now',
      true,
    ],
    [
      'the log of a container that has ended is that of the instance that ended',
      status({ terminated: { exitCode: 1, containerID: 'cri-o://end' } }),
      'end',
      false,
    ],
    [
      'the log of a container that waits is that of the instance before',
      status({ waiting: { reason: 'CrashLoopBackOff' } }, 'containerd://old'),
      'old',
      false,
    ],
    [
      'the log of an end without an instance is that of the instance before',
      status({ terminated: { exitCode: 1 } }, 'containerd://old'),
      'old',
      false,
    ],
  ])('%s', (_rule, its, containerId, running) => {
    expect(instanceToRead(its, 'c', false)).toEqual({ kind: 'found', containerId, running });
  });

  it('init containers have logs, too', () => {
    const { containerStatuses: initContainerStatuses = [] } = status({ running: {} });
    expect(instanceToRead({ initContainerStatuses }, 'c', false)).toMatchObject({ containerId: 'now' });
  });

  it('a container that has not started has no log, and what holds it up is named', () => {
    expect(instanceToRead(status({ waiting: { reason: 'ErrImagePull' } }), 'c', false)).toEqual({
      kind: 'notYet',
      message: 'container c has not started yet: ErrImagePull',
    });
  });
});

describe('instanceToEnter', () => {
  it('only a container that runs can be entered', () => {
    expect(instanceToEnter(status({ running: {} }), 'c')).toMatchObject({ containerId: 'now' });
    expect(instanceToEnter(status({ terminated: { exitCode: 0, reason: 'Completed' } }, 'x://old'), 'c')).toEqual({
      kind: 'notYet',
      message: 'container c is not running: Completed',
    });
  });
});
