import { describe, expect, it } from 'vitest';
import { fieldValue } from '../../../../src/model/env/field-value.ts';
import { pod } from '../../../marbles/fakes.ts';

const OF = pod({
  metadata: { labels: { tier: 'edge' }, annotations: { 'gold.test/rev': '7' } },
  spec: { nodeName: 'n1' },
});
const ADDRESSES = { podIps: ['10.0.0.7', 'fd00::7'], hostIps: ['192.0.2.2', '2001:db8::2'] };

describe('fieldValue', () => {
  it.each<[rule: string, path: string, value: string]>([
    ['is the name of the pod', 'metadata.name', 'web'],
    ['is the namespace of the pod', 'metadata.namespace', 'default'],
    ['is the UID of the pod', 'metadata.uid', 'u-1'],
    ['is one label', "metadata.labels['tier']", 'edge'],
    ['is nothing for a label that is not there', "metadata.labels['none']", ''],
    ['is one annotation', "metadata.annotations['gold.test/rev']", '7'],
    ['is nothing for an annotation that is not there', "metadata.annotations['none']", ''],
    ['is the name of the node', 'spec.nodeName', 'n1'],
    ['is nothing for the service account of a pod without one', 'spec.serviceAccountName', ''],
    ['is the first address of the node', 'status.hostIP', '192.0.2.2'],
    ['is all addresses of the node, with commas', 'status.hostIPs', '192.0.2.2,2001:db8::2'],
    ['is the first address of the pod', 'status.podIP', '10.0.0.7'],
    ['is all addresses of the pod, with commas', 'status.podIPs', '10.0.0.7,fd00::7'],
  ])('%s', (_rule, path, value) => {
    expect(fieldValue(OF, path, ADDRESSES)).toBe(value);
  });

  it('is nothing for addresses that are not known', () => {
    const paths = ['status.podIP', 'status.podIPs', 'status.hostIP', 'status.hostIPs'];
    expect(paths.map((path) => fieldValue(OF, path, { podIps: [], hostIps: [] }))).toEqual(['', '', '', '']);
  });
});
