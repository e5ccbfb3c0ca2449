import { describe, expect, it } from 'vitest';
import { fieldValue } from '../../../../src/model/env/field-value.ts';
import { pod } from '../../../marbles/fakes.ts';

const OF = pod({
  metadata: { labels: { tier: 'edge' }, annotations: { 'gold.test/rev': '7' } },
  spec: { nodeName: 'n1' },
});
const ADDRESSES = { podIps: ['10.0.0.7', 'fd00::7'], hostIps: ['192.0.2.2', '2001:db8::2'] };

describe('fieldValue', () => {
  it.each([
    ['metadata.name', 'web'],
    ['metadata.namespace', 'default'],
    ['metadata.uid', 'u-1'],
    ["metadata.labels['tier']", 'edge'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['gold.test/rev']", '7'],
    ['spec.nodeName', 'n1'],
    ['spec.serviceAccountName', ''],
    ['status.hostIP', '192.0.2.2'],
    ['status.hostIPs', '192.0.2.2,2001:db8::2'],
    ['status.podIP', '10.0.0.7'],
    ['status.podIPs', '10.0.0.7,fd00::7'],
  ])('gives for %s "%s"', (path, value) => {
    expect(fieldValue(OF, path, ADDRESSES)).toBe(value);
  });

  it('gives nothing for addresses that are not known', () => {
    expect(fieldValue(OF, 'status.podIP', { podIps: [], hostIps: [] })).toBe('');
  });
});
