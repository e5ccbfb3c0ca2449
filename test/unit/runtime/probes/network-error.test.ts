import { describe, expect, it } from 'vitest';
import { httpErrorText, httpTimeoutText, type Stage } from '../../../../src/runtime/probes/http-error-text.ts';
import { dialText, isOurOwn } from '../../../../src/runtime/probes/network-error.ts';

const AT = { host: 'fd00::1', port: 80 };
const REQUEST = { ...AT, scheme: 'http', path: '/', headers: {} } as const;
const failing = (code: string, message = 'said otherwise'): Error => Object.assign(new Error(message), { code });

describe('an error of the network', () => {
  it('want of files, sockets, memory or ports is that of this machine, and says nothing of the container', () => {
    const ours = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN'];
    expect(ours.map((code) => isOurOwn(failing(code)))).toEqual(ours.map(() => true));
  });

  it('everything else is that of the container', () => {
    const theirs = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT', 'ENOTFOUND'];
    expect(theirs.map((code) => isOurOwn(failing(code)))).toEqual(theirs.map(() => false));
    expect(isOurOwn(new Error('anything'))).toBe(false);
  });

  it.each([
    {
      rule: 'a refused connection is told in the words of the kubelet',
      text: dialText(failing('ECONNREFUSED'), AT),
      told: 'dial tcp [fd00::1]:80: connect: connection refused',
    },
    {
      rule: 'a host without a way to it is told in the words of the kubelet',
      text: dialText(failing('EHOSTUNREACH'), AT),
      told: 'dial tcp [fd00::1]:80: connect: no route to host',
    },
    {
      rule: 'a name that nobody knows is told in the words of the kubelet',
      text: dialText(failing('ENOTFOUND'), { host: 'db', port: 80 }),
      told: 'dial tcp: lookup db: no such host',
    },
    {
      rule: 'what nobody has words for is told as it is',
      text: dialText(failing('EWEIRD'), AT),
      told: 'dial tcp [fd00::1]:80: connect: said otherwise',
    },
    {
      rule: 'a connection that is reset before its answer is told as a reset',
      text: httpErrorText(failing('ECONNRESET', 'read ECONNRESET'), REQUEST, 'connected'),
      told: 'read: connection reset by peer',
    },
    {
      rule: 'a connection that is closed before its answer is told as an end',
      text: httpErrorText(failing('ECONNRESET', 'socket hang up'), REQUEST, 'connected'),
      told: 'EOF',
    },
  ])('$rule', ({ text, told }) => {
    expect(text).toBe(told);
  });

  it.each<{ rule: string; stage: Stage; told: string }>([
    {
      rule: 'too late while it connects is told so',
      stage: 'dialling',
      told: 'dial tcp [fd00::1]:80: i/o timeout (Client.Timeout exceeded while awaiting headers)',
    },
    {
      rule: 'too late while the answer is awaited is told so',
      stage: 'connected',
      told: 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    },
    {
      rule: 'too late while the body is read is told so',
      stage: 'headers',
      told: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    },
  ])('$rule', ({ stage, told }) => {
    expect(httpTimeoutText(REQUEST, stage)).toBe(told);
  });
});
