import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  ContainerDetail,
  ContainerState,
  ObservedContainer,
  ObservedPod,
} from '../../../../src/model/observed.ts';
import { diffPod, isEmpty, isSamePod } from '../../../../src/streams/pleg/diff-pod.ts';
import { container, exited, observed, sandbox, UID } from '../../../marbles/fakes.ts';

const NO_DETAIL: ContainerDetail = { startedAt: 0, finishedAt: 0, exitCode: 0, reason: '', message: '', logPath: '' };

const STATES = ['created', 'running', 'exited', 'unknown'] as const satisfies readonly ContainerState[];

function with_(state: ContainerState | undefined): ObservedPod {
  return observed({ containers: state ? [container({ id: 'c', state })] : [] });
}

describe('diffPod', () => {
  it.each<[ContainerState | undefined, ContainerState | undefined, readonly string[]]>([
    [undefined, 'running', ['ContainerStarted']],
    [undefined, 'exited', ['ContainerDied']],
    [undefined, 'created', ['ContainerChanged']],
    ['created', 'running', ['ContainerStarted']],
    ['created', 'unknown', []],
    ['running', 'running', []],
    ['running', 'exited', ['ContainerDied']],
    ['running', 'unknown', ['ContainerChanged']],
    ['running', undefined, ['ContainerDied', 'ContainerRemoved']],
    ['unknown', undefined, ['ContainerDied', 'ContainerRemoved']],
    ['exited', undefined, ['ContainerRemoved']],
    ['exited', 'running', ['ContainerStarted']],
  ])('from %s to %s is told as %j', (before, after, types) => {
    expect(diffPod(with_(before), with_(after))).toEqual(types.map((type) => ({ type, uid: UID, containerId: 'c' })));
  });

  it('compares sandboxes like containers: ready is running, not ready is exited', () => {
    const up = observed({ sandboxes: [sandbox()] });
    const down = observed({ sandboxes: [sandbox({ state: 'notReady' })] });
    expect(diffPod(undefined, up).map(({ type }) => type)).toEqual(['ContainerStarted']);
    expect(diffPod(up, down).map(({ type }) => type)).toEqual(['ContainerDied']);
    expect(diffPod(down, undefined).map(({ type }) => type)).toEqual(['ContainerRemoved']);
  });

  it('tells what is there now in its order, then what has vanished', () => {
    const before = observed({ containers: [container({ id: 'old' })] });
    const after = observed({ containers: [container({ id: 'b' }), container({ id: 'a' })], sandboxes: [sandbox()] });
    expect(diffPod(before, after).map(({ containerId }) => containerId)).toEqual(['b', 'a', 's-0', 'old', 'old']);
  });

  it.each<[string, Partial<ContainerDetail>, Partial<ContainerDetail>, readonly string[]]>([
    ['another reason', { reason: 'Error' }, { reason: 'OOMKilled' }, ['ContainerChanged']],
    ['another message', { message: '' }, { message: 'the last line' }, ['ContainerChanged']],
    ['the same', { reason: 'Error' }, { reason: 'Error', finishedAt: 6 }, []],
  ])('of an end that was believed early, and of which the CRI tells %s', (_what, early, told, types) => {
    const ended = (more: Partial<ContainerDetail>): ObservedContainer => {
      const { detail, ...rest } = exited(137);
      return { ...rest, detail: { ...NO_DETAIL, ...detail, ...more } };
    };
    const of = (one: ObservedContainer): ObservedPod => observed({ containers: [one] });
    const believed = of({ ...ended(early), early: true });
    expect(diffPod(believed, of(ended(told))).map(({ type }) => type)).toEqual(types);
    expect(diffPod(believed, of({ ...ended(told), early: true }))).toEqual([]);
    expect(diffPod(of(ended(early)), of(ended(told)))).toEqual([]);
  });

  it('has nothing to tell of nothing', () => {
    expect(diffPod(undefined, undefined)).toEqual([]);
  });
});

describe('isSamePod', () => {
  it('is true exactly when nothing would be told, but for changes that no event names', () => {
    const state = fc.constantFrom(...STATES);
    const world = fc
      .uniqueArray(fc.record({ id: fc.constantFrom('a', 'b', 'c'), state }), { selector: ({ id }) => id })
      .map((list) =>
        observed({ containers: list.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((its) => container(its)) }),
      );
    fc.assert(
      fc.property(world, world, (before, after) => {
        if (isSamePod(before, after)) expect(diffPod(before, after)).toEqual([]);
        else expect(diffPod(before, after).length > 0 || hasUnnamedChange(before, after)).toBe(true);
        expect(isSamePod(before, before)).toBe(true);
      }),
      { seed: 5, numRuns: 500 },
    );
  });

  it('takes a pod of which nothing is there for one that is not there', () => {
    expect(isSamePod(undefined, observed({}))).toBe(true);
    expect(isSamePod(observed({ sandboxes: [sandbox()] }), undefined)).toBe(false);
  });
});

describe('isEmpty', () => {
  it('is true of a pod of which the runtime holds neither sandbox nor container', () => {
    expect(isEmpty(undefined)).toBe(true);
    expect(isEmpty(observed({}))).toBe(true);
    expect(isEmpty(observed({ sandboxes: [sandbox()] }))).toBe(false);
    expect(isEmpty(observed({ containers: [container()] }))).toBe(false);
  });
});

/** Between created and unknown, which are one to the kubelet. */
function hasUnnamedChange(before: ObservedPod, after: ObservedPod): boolean {
  return before.containers.some(({ id, state }) => after.containers.find((one) => one.id === id)?.state !== state);
}
