import { of, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container, ContainerStatus, ListContainersResponse } from '../../../../src/model/cri/api.ts';
import { knownEnds, type EarlyStatusResponse, type TaskEnd } from '../../../../src/runtime/cri/known-ends.ts';
import type { Cri } from '../../../../src/streams/ports/cri.ts';
import { fakeCri } from '../../fakes.ts';
import { unexpected } from '../../operators/unexpected.ts';

const UNLIMITED = { linux: { memoryLimitInBytes: 0 } };
const LIMITED = { linux: { memoryLimitInBytes: 64_000_000 } };
const FALLS_BACK = { 'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError' };
const RUNNING: ContainerStatus = { id: 'c', state: 'CONTAINER_RUNNING', resources: UNLIMITED, startedAt: 1 };
const KILLED: TaskEnd = { exitCode: 137, finishedAt: 5 };

/** What a runtime says that holds these containers and knows of no end yet, once the end of `c` was heard of. */
function corrected(status: ContainerStatus, end: TaskEnd, listed: readonly Container[] = [status]) {
  const ends = knownEnds();
  const runtime = { containers: listed };
  const cri = ends.over(
    fakeCri([], {
      containerStatus: () => of({ status }),
      listContainers: () => of(runtime),
    }),
  );
  ends.heard('c', end);
  return {
    status: () => now<EarlyStatusResponse>(cri.containerStatus({ containerId: 'c' })),
    states: (request = {}) => now<ListContainersResponse>(cri.listContainers(request)).containers?.map((c) => c.state),
    becomes: (containers: readonly Container[]) => {
      runtime.containers = containers;
    },
  };
}

function now<T>(answer$: Observable<T>): T {
  let answer: T | undefined;
  answer$.subscribe({
    next: (value) => {
      answer = value;
    },
    error: unexpected,
  });
  if (answer === undefined) throw new Error('the fake answers at once');
  return answer;
}

describe('knownEnds', () => {
  it('tells an end that was heard of in status and list, as one that is early', () => {
    const { status, states } = corrected(RUNNING, KILLED);
    expect(states()).toEqual(['CONTAINER_EXITED']);
    expect(status()).toEqual({
      early: true,
      status: { ...RUNNING, state: 'CONTAINER_EXITED', exitCode: 137, finishedAt: 5, reason: 'Error' },
    });
  });

  it('gives a container that ended well its reason', () => {
    expect(corrected(RUNNING, { exitCode: 0, finishedAt: 5 }).status().status).toMatchObject({ reason: 'Completed' });
  });

  it.each<[string, Partial<ContainerStatus>, number]>([
    ['of one that may have ended for want of memory', { resources: LIMITED }, 137],
    ['of a kill where the runtime does not tell how much memory there is', { resources: undefined }, 137],
    ['of one whose last lines of log are to tell why', { annotations: FALLS_BACK }, 1],
  ])('leaves it to the runtime to tell the status %s', (_what, more, exitCode) => {
    const running = { ...RUNNING, ...more };
    expect(corrected(running, { exitCode, finishedAt: 5 }).status()).toEqual({ status: running });
  });

  it.each<[string, Partial<ContainerStatus>, number]>([
    ['of one with a limit that ended by itself', { resources: LIMITED }, 1],
    ['of one that ended well, whatever its log says', { annotations: FALLS_BACK }, 0],
  ])('tells the status %s', (_what, more, exitCode) => {
    const told = corrected({ ...RUNNING, ...more }, { exitCode, finishedAt: 5 }).status();
    expect(told.status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode });
  });

  it('adds nothing to what the runtime itself knows of an end', () => {
    const exited: ContainerStatus = { ...RUNNING, state: 'CONTAINER_EXITED', exitCode: 137, reason: 'OOMKilled' };
    expect(corrected(exited, KILLED).status()).toEqual({ status: exited });
  });

  describe('what was told of a container while it ran', () => {
    /** Asked once while it runs; the second answer is what comes after its end was heard of. */
    function askedTwice(
      between: (cri: Cri, lists: (containers: readonly Container[]) => void) => void = () => undefined,
    ) {
      const log: string[] = [];
      let containers: readonly Container[] = [RUNNING];
      const ends = knownEnds();
      const cri = ends.over(
        fakeCri(log, { containerStatus: () => of({ status: RUNNING }), listContainers: () => of({ containers }) }),
      );
      now(cri.containerStatus({ containerId: 'c' }));
      between(cri, (others) => {
        containers = others;
      });
      ends.heard('c', KILLED);
      const { early } = now<EarlyStatusResponse>(cri.containerStatus({ containerId: 'c' }));
      return { early, calls: log.filter((call) => call === 'containerStatus c').length };
    }

    it('is not asked for again when its end is heard of', () => {
      expect(askedTwice()).toEqual({ early: true, calls: 1 });
    });

    it.each<[string, Parameters<typeof askedTwice>[0]]>([
      [
        'its limits were changed since',
        (cri) => {
          cri.updateContainerResources({ containerId: 'c' }).subscribe({ error: unexpected });
        },
      ],
      [
        'the runtime itself has listed it as ended',
        (cri, lists) => {
          lists([{ ...RUNNING, state: 'CONTAINER_EXITED' }]);
          now(cri.listContainers({ filter: { id: 'c' } }));
        },
      ],
      [
        'a list of all did not show it as running any more',
        (cri, lists) => {
          lists([]);
          now(cri.listContainers({}));
        },
      ],
    ])('is asked for again where %s', (_, between) => {
      expect(askedTwice(between).calls).toBe(2);
    });
  });

  it('says nothing of other containers', () => {
    const other: ContainerStatus = { ...RUNNING, id: 'd' };
    const { status, states } = corrected(other, KILLED);
    expect(status()).toEqual({ status: other });
    expect(states()).toEqual(['CONTAINER_RUNNING']);
  });

  describe('forgets an end', () => {
    const { id = '' } = RUNNING;
    const listed = (state: Container['state']): readonly Container[] => [{ id, state }];

    it.each<[string, readonly Container[]]>([
      ['that the runtime has told', listed('CONTAINER_EXITED')],
      ['of what is none of its containers', []],
    ])('%s', (_what, containers) => {
      const { states, becomes } = corrected(RUNNING, KILLED, containers);
      states();
      becomes(listed('CONTAINER_RUNNING'));
      expect(states()).toEqual(['CONTAINER_RUNNING']);
    });

    it('but not because a list of some containers lacks it', () => {
      const { states, becomes } = corrected(RUNNING, KILLED, []);
      states({ filter: { id: 'other' } });
      becomes(listed('CONTAINER_RUNNING'));
      expect(states()).toEqual(['CONTAINER_EXITED']);
    });
  });
});
