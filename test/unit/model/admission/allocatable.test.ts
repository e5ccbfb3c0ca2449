import { describe, expect, it } from 'vitest';
import { allocatable } from '../../../../src/model/admission/allocatable.ts';
import { nodeLabelProblem, nodeLabels } from '../../../../src/model/admission/node-labels.ts';

const GIB = 2 ** 30;
const CAPACITY = { cpus: 2, memory: 8 * GIB, disk: 100 * GIB, hugePages: { 'hugepages-2Mi': GIB } };
const NOTHING = { maxPods: 110, systemReserved: {}, kubeReserved: {}, evictionHard: {} };

describe('allocatable', () => {
  it('is what the machine has; memory of huge pages is not memory', () => {
    expect(allocatable(CAPACITY, NOTHING)).toEqual({
      pods: 110,
      cpu: 2_000,
      memory: 7 * GIB,
      'ephemeral-storage': 100 * GIB,
      'hugepages-2Mi': GIB,
    });
  });

  it('leaves out what is kept for the system and for the agent, and never goes below nothing', () => {
    const kept = { systemReserved: { cpu: '500m', memory: '1Gi' }, kubeReserved: { cpu: '2' } };
    expect(allocatable(CAPACITY, { ...NOTHING, ...kept })).toMatchObject({ cpu: 0, memory: 6 * GIB });
  });

  it('leaves out what would have pods evicted, as an amount or as a share', () => {
    const evictionHard = { 'memory.available': '1Gi', 'nodefs.available': '10%' };
    expect(allocatable(CAPACITY, { ...NOTHING, evictionHard })).toMatchObject({
      memory: 6 * GIB,
      'ephemeral-storage': 90 * GIB,
    });
  });
});

describe('nodeLabels', () => {
  it('tell name, system and processor, and what is configured', () => {
    expect(nodeLabels('n1', 'x64', { disk: 'ssd' })).toEqual({
      'kubernetes.io/hostname': 'n1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      disk: 'ssd',
    });
  });

  it.each([
    ['disk', 'ssd', true],
    ['example.com/disk', '', true],
    ['node.kubernetes.io/x', 'y', true],
    ['topology.kubernetes.io/zone', 'moon', true],
    ['kubernetes.io/x', 'y', false],
    ['a.k8s.io/x', 'y', false],
    ['a b', 'y', false],
    ['a', 'y!', false],
    ['-/a', 'y', false],
  ])('%s=%s may be given: %s', (name, value, isFine) => {
    expect(nodeLabelProblem(name, value) === undefined).toBe(isFine);
  });
});
