import { describe, expect, it } from 'vitest';
import type { AdmissionNode } from '../../../../src/model/admission/admission-node.ts';
import { admitPod, type Admission, type Occupant } from '../../../../src/model/admission/admit-pod.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { NODE, podThat, type Asked } from './nodes.ts';

function judge(asked: Asked, others: readonly Pod[] = [], node: Partial<AdmissionNode> = {}): Admission {
  return admitPod(
    podThat(asked),
    others.map((pod) => ({ pod, isLeaving: false })),
    { ...NODE, ...node },
  );
}

function refusalOf(admission: Admission): string {
  return admission.kind === 'refused' ? `${admission.refusal.reason}: ${admission.refusal.message}` : admission.kind;
}

const NO_ROOM =
  'UnexpectedAdmissionError: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: ';
const hungry = (cpu: string, uid = 'other'): Pod => podThat({ requests: { cpu } }, uid);

describe('admitPod: resources', () => {
  it.each<[string, Asked, readonly Pod[], string]>([
    ['takes a pod that asks for exactly what is left', { requests: { cpu: '200m' } }, [hungry('1800m')], 'admitted'],
    [
      'names what is missing beyond what is left, in thousandths of a core',
      { requests: { cpu: '500m' } },
      [hungry('1800m')],
      `${NO_ROOM}[(res: cpu, q: 300), ]`,
    ],
    ['counts memory in bytes', { requests: { memory: '5Gi' } }, [], `${NO_ROOM}[(res: memory, q: 1073741824), ]`],
    [
      'names every resource that is short, cpu before memory',
      { requests: { memory: '5Gi', cpu: '3' } },
      [],
      `${NO_ROOM}[(res: cpu, q: 1000), (res: memory, q: 1073741824), ]`,
    ],
    [
      'refuses huge pages that the node has not set aside',
      { requests: { 'hugepages-2Mi': '4Mi' } },
      [],
      `${NO_ROOM}[(res: hugepages-2Mi, q: 4194304), ]`,
    ],
    [
      'refuses huge pages of a size that the node does not know',
      { requests: { 'hugepages-1Gi': '1Gi' } },
      [],
      `${NO_ROOM}[(res: hugepages-1Gi, q: 1073741824), ]`,
    ],
    ['does not count an extended resource that the node does not have', { requests: { 'a.b/c': '2' } }, [], 'admitted'],
    [
      'counts storage that is asked for',
      { requests: { 'ephemeral-storage': '11Gi' } },
      [],
      `${NO_ROOM}[(res: ephemeral-storage, q: 1073741824), ]`,
    ],
    [
      'takes no more pods than the node may have',
      {},
      [podThat({}, 'b'), podThat({}, 'c'), podThat({}, 'd')],
      `${NO_ROOM}[(res: pods, q: 1), ]`,
    ],
    ['takes a pod that asks for nothing on a node that is full', {}, [hungry('2')], 'admitted'],
  ])('%s', (_rule, asked, others, expected) => {
    expect(refusalOf(judge(asked, others))).toBe(expected);
  });

  it('counts the most that init containers ask for, and the overhead', () => {
    const init = { name: 'init', image: 'busybox', resources: { requests: { cpu: '1900m' } } };
    expect(refusalOf(judge({ initContainers: [init], requests: { cpu: '1' }, overhead: { cpu: '200m' } }))).toBe(
      `${NO_ROOM}[(res: cpu, q: 100), ]`,
    );
  });

  it('tells of a pod that is not critical what it asked for, what is used and what there is', () => {
    const pod = podThat({ requests: { cpu: '500m' } }, 'a', 'api');
    expect(refusalOf(admitPod(pod, [{ pod: hungry('1800m'), isLeaving: false }], NODE))).toBe(
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 500, used: 1800, capacity: 2000",
    );
  });

  it('lets a pod of the node wait for what a pod that is being ended still holds', () => {
    const leaving: Occupant = { pod: hungry('1800m'), isLeaving: true };
    expect(admitPod(podThat({ requests: { cpu: '500m' } }), [leaving], NODE).kind).toBe('waits');
  });

  it('does not let it wait where that would not be enough', () => {
    const leaving: Occupant = { pod: hungry('100m'), isLeaving: true };
    const staying: Occupant = { pod: hungry('1800m', 'c'), isLeaving: false };
    expect(refusalOf(admitPod(podThat({ requests: { cpu: '500m' } }), [leaving, staying], NODE))).toBe(
      `${NO_ROOM}[(res: cpu, q: 300), ]`,
    );
  });
});

describe('admitPod: who may be ended for whom', () => {
  const victims = (asked: Asked, others: readonly Pod[]): unknown => {
    const admission = judge(asked, others);
    return admission.kind === 'preempts' ? admission.victims.map(({ metadata }) => metadata.uid) : refusalOf(admission);
  };
  const fromApi = (asked: Asked, uid: string): Pod => podThat(asked, uid, 'api');

  it('ends a pod that is not critical for one of the node', () => {
    expect(victims({ requests: { cpu: '500m' } }, [fromApi({ requests: { cpu: '1800m' } }, 'b')])).toEqual(['b']);
  });

  it('ends no pod of the node for another without a priority', () => {
    expect(victims({ requests: { cpu: '500m' }, priority: 2_000_001_000 }, [hungry('1800m')])).toBe(
      `${NO_ROOM}[(res: cpu, q: 300), ]`,
    );
  });

  it('ends a pod of the node for another of higher priority', () => {
    const lower = podThat({ requests: { cpu: '1800m' }, priority: 5 }, 'b');
    expect(victims({ requests: { cpu: '500m' }, priority: 6 }, [lower])).toEqual(['b']);
  });

  it('ends nobody where something else than room is missing', () => {
    const other = fromApi({ requests: { cpu: '1800m' } }, 'b');
    expect(victims({ requests: { cpu: '500m' }, nodeSelector: { disk: 'hdd' } }, [other])).toBe(
      "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    );
  });

  it('ends guaranteed pods only for what all others could not give', () => {
    const fixed = { cpu: '600m', memory: '1Gi' };
    const guaranteed = fromApi({ requests: fixed, limits: fixed }, 'guaranteed');
    const burstable = fromApi({ requests: { cpu: '600m' } }, 'burstable');
    expect(victims({ requests: { cpu: '1' } }, [guaranteed, burstable])).toEqual(['burstable']);
    expect(victims({ requests: { cpu: '2' } }, [guaranteed, burstable])).toEqual(['burstable', 'guaranteed']);
  });

  it('ends the pod that comes nearest to the need, and of equals the one that asks for less', () => {
    const small = fromApi({ requests: { cpu: '200m' } }, 'small');
    const right = fromApi({ requests: { cpu: '700m' } }, 'right');
    const large = fromApi({ requests: { cpu: '1100m' } }, 'large');
    expect(victims({ requests: { cpu: '600m' } }, [small, large, right].slice(0, 3))).toEqual(
      expect.arrayContaining(['right']),
    );
    expect(victims({ requests: { cpu: '600m' } }, [small, large, right])).toHaveLength(1);
  });

  it('does not end more pods while those it chose are still being ended', () => {
    const leaving = { pod: fromApi({ requests: { cpu: '900m' } }, 'b'), isLeaving: true };
    const staying = { pod: fromApi({ requests: { cpu: '1' } }, 'c'), isLeaving: false };
    expect(admitPod(podThat({ requests: { cpu: '1' } }), [leaving, staying], NODE).kind).toBe('waits');
  });
});

describe('admitPod: everything but room', () => {
  const affinity = (nodeSelectorTerms: readonly object[]): Asked => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const expression = (key: string, operator: string, ...values: readonly string[]): object => ({
    key,
    operator,
    values,
  });
  const NO_MATCH = "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";

  it.each<[string, Asked, string]>([
    ['a selector that the node meets', { nodeSelector: { disk: 'ssd' } }, 'admitted'],
    ['a selector of another value', { nodeSelector: { disk: 'hdd' } }, NO_MATCH],
    ['a selector for another system', { nodeSelector: { 'kubernetes.io/os': 'windows' } }, NO_MATCH],
    ['In', affinity([{ matchExpressions: [expression('disk', 'In', 'hdd', 'ssd')] }]), 'admitted'],
    ['In without the label', affinity([{ matchExpressions: [expression('zone', 'In', 'moon')] }]), NO_MATCH],
    ['NotIn without the label', affinity([{ matchExpressions: [expression('zone', 'NotIn', 'moon')] }]), 'admitted'],
    ['NotIn of the value', affinity([{ matchExpressions: [expression('disk', 'NotIn', 'ssd')] }]), NO_MATCH],
    ['Exists', affinity([{ matchExpressions: [expression('disk', 'Exists')] }]), 'admitted'],
    ['DoesNotExist', affinity([{ matchExpressions: [expression('disk', 'DoesNotExist')] }]), NO_MATCH],
    ['Gt', affinity([{ matchExpressions: [expression('cores', 'Gt', '3')] }]), 'admitted'],
    ['Gt of the same number', affinity([{ matchExpressions: [expression('cores', 'Gt', '4')] }]), NO_MATCH],
    ['Lt', affinity([{ matchExpressions: [expression('cores', 'Lt', '10')] }]), 'admitted'],
    ['Lt of what is no number', affinity([{ matchExpressions: [expression('disk', 'Lt', '10')] }]), NO_MATCH],
    ['a field', affinity([{ matchFields: [expression('metadata.name', 'In', 'n1')] }]), 'admitted'],
    ['a field of another node', affinity([{ matchFields: [expression('metadata.name', 'In', 'n2')] }]), NO_MATCH],
    ['a term that asks for nothing', affinity([{}]), NO_MATCH],
    [
      'any of several terms',
      affinity([
        { matchExpressions: [expression('disk', 'In', 'hdd')] },
        { matchExpressions: [expression('disk', 'In', 'ssd')] },
      ]),
      'admitted',
    ],
    [
      'all expressions of a term',
      affinity([{ matchExpressions: [expression('disk', 'In', 'ssd'), expression('cores', 'Gt', '4')] }]),
      NO_MATCH,
    ],
    [
      'another operating system',
      { os: { name: 'windows' } },
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
    [
      'another node by name',
      { nodeName: 'n2' },
      "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
    [
      'strict groups where the runtime knows none',
      { securityContext: { supplementalGroupsPolicy: 'Strict' } },
      'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    [
      'AppArmor where the machine has none',
      { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
      'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
    ['AppArmor that is switched off', { securityContext: { appArmorProfile: { type: 'Unconfined' } } }, 'admitted'],
  ])('judges %s', (_what, asked, expected) => {
    expect(refusalOf(judge(asked))).toBe(expected);
  });

  it('has the word of the first check that fails: kind before room before AppArmor', () => {
    const all: Asked = {
      os: { name: 'windows' },
      requests: { cpu: '3' },
      securityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
    };
    expect(refusalOf(judge(all))).toContain('PodOSNotSupported');
    expect(refusalOf(judge({ ...all, os: { name: 'linux' } }))).toContain('(res: cpu, q: 1000)');
  });

  it('asks about sysctls first', () => {
    const asked: Asked = {
      os: { name: 'windows' },
      securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
    };
    expect(refusalOf(judge(asked))).toBe('SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted');
    expect(refusalOf(judge(asked, [], { allowedUnsafeSysctls: ['kernel.msg*'] }))).toContain('PodOSNotSupported');
  });

  it('leaves pods of the node alone with taints, and no others', () => {
    const node = { ...NODE, taints: [{ key: 'a', value: '1', effect: 'NoExecute' }] };
    const toleration = { key: 'a', operator: 'Exists' };
    expect(refusalOf(admitPod(podThat(), [], node))).toBe('admitted');
    expect(refusalOf(admitPod(podThat({}, 'a', 'api'), [], node))).toBe(
      "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    );
    expect(refusalOf(admitPod(podThat({ tolerations: [toleration] }, 'a', 'api'), [], node))).toBe('admitted');
  });
});

describe('admitPod: ports of the node', () => {
  const port = (hostPort: number, hostIP = '', protocol = 'TCP'): Asked => ({
    ports: [{ containerPort: 80, hostPort, hostIP, protocol }],
  });
  const TAKEN = "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";

  it.each<[string, Asked, Asked, string]>([
    ['the same port', port(80), port(80), TAKEN],
    ['every address and one of them', port(80), port(80, '127.0.0.1'), TAKEN],
    ['the same address', port(80, '127.0.0.1'), port(80, '127.0.0.1'), TAKEN],
    ['two addresses', port(80, '127.0.0.1'), port(80, '127.0.0.2'), 'admitted'],
    ['two protocols', port(80), port(80, '', 'UDP'), 'admitted'],
    ['two ports', port(80), port(81), 'admitted'],
    ['no port of the node', port(0), port(0), 'admitted'],
  ])('judges %s', (_what, wanted, taken, expected) => {
    expect(refusalOf(judge(wanted, [podThat(taken, 'b')]))).toBe(expected);
  });

  it('counts sidecars, which run on, and no other init containers', () => {
    const init = (restartPolicy?: string): Asked => ({
      initContainers: [
        {
          name: 'init',
          ports: [{ containerPort: 80, hostPort: 80 }],
          ...(restartPolicy === undefined ? {} : { restartPolicy }),
        },
      ],
    });
    expect(refusalOf(judge(port(80), [podThat(init('Always'), 'b')]))).toBe(TAKEN);
    expect(refusalOf(judge(port(80), [podThat(init(), 'b')]))).toBe('admitted');
  });
});

describe('admitPod: the system that a pod is for', () => {
  const labelled = (os: string): Pod => {
    const pod = podThat();
    return { ...pod, metadata: { ...pod.metadata, labels: { 'kubernetes.io/os': os } } };
  };

  it.each([
    ['takes a pod whose label names this one', labelled('linux'), 'admitted'],
    [
      'refuses a pod whose label names another one',
      labelled('windows'),
      "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
    ['takes a pod whose spec names this one', podThat({ os: { name: 'linux' } }), 'admitted'],
    [
      'refuses a pod whose spec names another one',
      podThat({ os: { name: 'windows' } }),
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
  ])('%s', (_, pod, expected) => {
    expect(refusalOf(admitPod(pod, [], NODE))).toBe(expected);
  });
});
