import { describe, expect, it } from 'vitest';
import type { AdmissionNode } from '../../../../src/model/admission/admission-node.ts';
import { admitPod, roomOf, type Admission, type Occupant } from '../../../../src/model/admission/admit-pod.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { NODE, podThat, type Asked } from './nodes.ts';

function judge(asked: Asked, others: readonly Pod[] = [], node: Partial<AdmissionNode> = {}): Admission {
  return admitPod(podThat(asked), roomOf(others.map((pod) => ({ pod, isLeaving: false }))), { ...NODE, ...node });
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

  it('counts of init containers the one that asks for most, and the overhead on top', () => {
    const init = { name: 'init', image: 'busybox', resources: { requests: { cpu: '1900m' } } };
    expect(refusalOf(judge({ initContainers: [init], requests: { cpu: '1' }, overhead: { cpu: '200m' } }))).toBe(
      `${NO_ROOM}[(res: cpu, q: 100), ]`,
    );
  });

  it('tells of a pod that is not critical what it asked for, what is used and what there is', () => {
    const pod = podThat({ requests: { cpu: '500m' } }, 'a', 'api');
    expect(refusalOf(admitPod(pod, roomOf([{ pod: hungry('1800m'), isLeaving: false }]), NODE))).toBe(
      "OutOfcpu: Node didn't have enough resource: cpu, requested: 500, used: 1800, capacity: 2000",
    );
  });

  const full = [podThat({}, 'b'), podThat({}, 'c'), podThat({}, 'd')];

  it.each<[rule: string, asked: Asked, others: readonly Pod[], refusal: string]>([
    [
      'tells a want of cpu as OutOfcpu, in thousandths',
      { requests: { cpu: '2500m' } },
      [],
      'OutOfcpu: cpu, requested: 2500, used: 0, capacity: 2000',
    ],
    [
      'tells a want of memory as OutOfmemory, in bytes',
      { requests: { memory: '5Gi' } },
      [podThat({ requests: { memory: '1Gi' } }, 'b')],
      'OutOfmemory: memory, requested: 5368709120, used: 1073741824, capacity: 4294967296',
    ],
    [
      'tells a want of storage as OutOfephemeral-storage',
      { requests: { 'ephemeral-storage': '11Gi' } },
      [],
      'OutOfephemeral-storage: ephemeral-storage, requested: 11811160064, used: 0, capacity: 10737418240',
    ],
    ['tells a want of places as OutOfpods', {}, full, 'OutOfpods: pods, requested: 1, used: 3, capacity: 3'],
    [
      'tells a want of huge pages by their size',
      { requests: { 'hugepages-2Mi': '4Mi' } },
      [],
      'OutOfhugepages-2Mi: hugepages-2Mi, requested: 4194304, used: 0, capacity: 0',
    ],
    [
      'tells the want of places before that of cpu',
      { requests: { cpu: '3' } },
      full,
      'OutOfpods: pods, requested: 1, used: 3, capacity: 3',
    ],
    [
      'tells a want of room before a node that does not match',
      { requests: { cpu: '3' }, nodeSelector: { disk: 'hdd' } },
      [],
      'OutOfcpu: cpu, requested: 3000, used: 0, capacity: 2000',
    ],
  ])('%s', (_rule, asked, others, refusal) => {
    const occupants = others.map((pod) => ({ pod, isLeaving: false }));
    const found = refusalOf(admitPod(podThat(asked, 'a', 'api'), roomOf(occupants), NODE));
    expect(found.replace("Node didn't have enough resource: ", '')).toBe(refusal);
    expect(found).toContain(": Node didn't have enough resource: ");
  });

  it('does not count storage where nobody says how much the node has', () => {
    const { 'ephemeral-storage': _, ...rest } = NODE.allocatable;
    const asked: Asked = { requests: { 'ephemeral-storage': '11Gi' } };
    expect(refusalOf(judge(asked, [], { allocatable: rest }))).toBe('admitted');
  });

  it('lets a pod of the node wait for what a pod that is being ended still holds', () => {
    const leaving: Occupant = { pod: hungry('1800m'), isLeaving: true };
    expect(admitPod(podThat({ requests: { cpu: '500m' } }), roomOf([leaving]), NODE).kind).toBe('waits');
  });

  it('does not let it wait where that would not be enough', () => {
    const leaving: Occupant = { pod: hungry('100m'), isLeaving: true };
    const staying: Occupant = { pod: hungry('1800m', 'c'), isLeaving: false };
    expect(refusalOf(admitPod(podThat({ requests: { cpu: '500m' } }), roomOf([leaving, staying]), NODE))).toBe(
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

  it('ends the pod that comes nearest to the need', () => {
    const others = ['200m', '700m', '1100m'].map((cpu) => fromApi({ requests: { cpu } }, cpu));
    expect(victims({ requests: { cpu: '600m' } }, others)).toEqual(['700m']);
  });

  it('does not end more pods while those it chose are still being ended', () => {
    const leaving = { pod: fromApi({ requests: { cpu: '900m' } }, 'b'), isLeaving: true };
    const staying = { pod: fromApi({ requests: { cpu: '1' } }, 'c'), isLeaving: false };
    expect(admitPod(podThat({ requests: { cpu: '1' } }), roomOf([leaving, staying]), NODE).kind).toBe('waits');
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
    ['takes a pod whose nodeSelector the node meets', { nodeSelector: { disk: 'ssd' } }, 'admitted'],
    ['refuses a pod whose nodeSelector wants another value of a label', { nodeSelector: { disk: 'hdd' } }, NO_MATCH],
    [
      'refuses a pod whose nodeSelector wants another system',
      { nodeSelector: { 'kubernetes.io/os': 'windows' } },
      NO_MATCH,
    ],
    [
      'takes a node with one of the values of In',
      affinity([{ matchExpressions: [expression('disk', 'In', 'hdd', 'ssd')] }]),
      'admitted',
    ],
    [
      'refuses a node without the label of In',
      affinity([{ matchExpressions: [expression('zone', 'In', 'moon')] }]),
      NO_MATCH,
    ],
    [
      'takes a node without the label of NotIn',
      affinity([{ matchExpressions: [expression('zone', 'NotIn', 'moon')] }]),
      'admitted',
    ],
    [
      'refuses a node with a value of NotIn',
      affinity([{ matchExpressions: [expression('disk', 'NotIn', 'ssd')] }]),
      NO_MATCH,
    ],
    [
      'takes a node with the label of Exists',
      affinity([{ matchExpressions: [expression('disk', 'Exists')] }]),
      'admitted',
    ],
    [
      'refuses a node with the label of DoesNotExist',
      affinity([{ matchExpressions: [expression('disk', 'DoesNotExist')] }]),
      NO_MATCH,
    ],
    [
      'takes a node with a greater number than that of Gt',
      affinity([{ matchExpressions: [expression('cores', 'Gt', '3')] }]),
      'admitted',
    ],
    [
      'refuses a node with the number of Gt',
      affinity([{ matchExpressions: [expression('cores', 'Gt', '4')] }]),
      NO_MATCH,
    ],
    [
      'takes a node with a lesser number than that of Lt',
      affinity([{ matchExpressions: [expression('cores', 'Lt', '10')] }]),
      'admitted',
    ],
    [
      'refuses a node whose value is no number, for Lt',
      affinity([{ matchExpressions: [expression('disk', 'Lt', '10')] }]),
      NO_MATCH,
    ],
    [
      'takes the node whose name a term names',
      affinity([{ matchFields: [expression('metadata.name', 'In', 'n1')] }]),
      'admitted',
    ],
    [
      'refuses the node where a term names another',
      affinity([{ matchFields: [expression('metadata.name', 'In', 'n2')] }]),
      NO_MATCH,
    ],
    ['refuses every node for a term that asks for nothing', affinity([{}]), NO_MATCH],
    [
      'takes a node that meets one of several terms',
      affinity([
        { matchExpressions: [expression('disk', 'In', 'hdd')] },
        { matchExpressions: [expression('disk', 'In', 'ssd')] },
      ]),
      'admitted',
    ],
    [
      'refuses a node that does not meet all expressions of a term',
      affinity([{ matchExpressions: [expression('disk', 'In', 'ssd'), expression('cores', 'Gt', '4')] }]),
      NO_MATCH,
    ],
    [
      'refuses a pod for another operating system',
      { os: { name: 'windows' } },
      "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
    ],
    [
      'refuses a pod that names another node',
      { nodeName: 'n2' },
      "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
    ],
    [
      'refuses strict groups where the runtime knows none',
      { securityContext: { supplementalGroupsPolicy: 'Strict' } },
      'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
    ],
    [
      'refuses AppArmor where the machine has none',
      { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
      'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host',
    ],
    [
      'takes a pod that wants no AppArmor',
      { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      'admitted',
    ],
    [
      'does not ask for what a pod only prefers',
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [{ key: 'disk', operator: 'In', values: ['hdd'] }] } },
            ],
          },
        },
      },
      'admitted',
    ],
  ])('%s', (_rule, asked, expected) => {
    expect(refusalOf(judge(asked))).toBe(expected);
  });

  it.each<[rule: string, asked: Asked, node: Partial<AdmissionNode>]>([
    [
      'takes a pod that wants AppArmor where the machine has it',
      { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
      { appArmor: true },
    ],
    [
      'takes strict groups where the runtime knows them',
      { securityContext: { supplementalGroupsPolicy: 'Strict' } },
      { supplementalGroupsPolicy: true },
    ],
    [
      'takes merged groups where the runtime knows no others',
      { securityContext: { supplementalGroupsPolicy: 'Merge' } },
      {},
    ],
    ['takes a pod that names this node', { nodeName: 'n1' }, {}],
  ])('%s', (_rule, asked, node) => {
    expect(refusalOf(judge(asked, [], node))).toBe('admitted');
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

  const TAINTED = { ...NODE, taints: [{ key: 'a', value: '1', effect: 'NoExecute' }] };

  it.each<[rule: string, pod: Pod, expected: string]>([
    ['asks no pod of the node about taints', podThat(), 'admitted'],
    [
      'refuses another pod that does not tolerate a NoExecute taint',
      podThat({}, 'a', 'api'),
      "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    ],
    [
      'takes another pod that tolerates the taint',
      podThat({ tolerations: [{ key: 'a', operator: 'Exists' }] }, 'a', 'api'),
      'admitted',
    ],
  ])('%s', (_rule, pod, expected) => {
    expect(refusalOf(admitPod(pod, roomOf([]), TAINTED))).toBe(expected);
  });
});

describe('admitPod: ports of the node', () => {
  const port = (hostPort: number, hostIP = '', protocol = 'TCP'): Asked => ({
    ports: [{ containerPort: 80, hostPort, hostIP, protocol }],
  });
  const TAKEN = "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";

  it.each<[string, Asked, Asked, string]>([
    ['refuses a port that another pod has', port(80), port(80), TAKEN],
    ['refuses a port on every address where another pod has it on one', port(80), port(80, '127.0.0.1'), TAKEN],
    ['refuses a port that another pod has on the same address', port(80, '127.0.0.1'), port(80, '127.0.0.1'), TAKEN],
    ['takes a port on another address', port(80, '127.0.0.1'), port(80, '127.0.0.2'), 'admitted'],
    ['takes a port of another protocol', port(80), port(80, '', 'UDP'), 'admitted'],
    ['takes another port', port(80), port(81), 'admitted'],
    ["does not ask about ports that are not the node's", port(0), port(0), 'admitted'],
    ['refuses a port on one address where another pod has it on every one', port(80, '127.0.0.1'), port(80), TAKEN],
  ])('%s', (_rule, wanted, taken, expected) => {
    expect(refusalOf(judge(wanted, [podThat(taken, 'b')]))).toBe(expected);
  });

  it('counts the ports of sidecars, which run on, and of no other init containers', () => {
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
    expect(refusalOf(admitPod(pod, roomOf([]), NODE))).toBe(expected);
  });
});
