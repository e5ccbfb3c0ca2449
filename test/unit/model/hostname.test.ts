import { describe, expect, it } from 'vitest';
import { hostnameOf } from '../../../src/model/hostname.ts';

describe('hostnameOf', () => {
  it.each([
    ['takes the name of the pod', 'web-n1', undefined, 'web-n1'],
    ['takes spec.hostname before it', 'web-n1', 'mine', 'mine'],
    ['does not take an empty one', 'web-n1', '', 'web-n1'],
    ['cuts to 63 letters', 'a'.repeat(67), undefined, 'a'.repeat(63)],
    ['leaves no dash or dot at the end of what it cut', `${'a'.repeat(61)}-.n1`, undefined, 'a'.repeat(61)],
  ])('%s', (_rule, pod, hostname, result) => {
    expect(hostnameOf(pod, hostname)).toBe(result);
  });
});
