import { describe, expect, it } from 'vitest';
import { redirectOf, requestOf, urlOf } from '../../../../src/runtime/probes/http-request.ts';

const address = { host: '10.0.0.1', port: 8_080 };
const port = 8_080;

describe('requestOf', () => {
  it('a request says kube-probe, and takes any answer', () => {
    expect(requestOf(address, { port }).headers).toEqual({ 'User-Agent': ['kube-probe/1.36'], Accept: ['*/*'] });
  });

  it.each([
    ['a header of the probe goes before the usual one', [['accept', 'text/html']], { accept: ['text/html'] }],
    ['an empty Accept takes the usual one away', [['Accept', '']], {}],
    [
      'a header may be given twice',
      [
        ['X-A', '1'],
        ['x-a', '2'],
      ],
      { 'X-A': ['1', '2'], Accept: ['*/*'] },
    ],
    ['a Host header is sent as the host', [['Host', 'shop.test']], { Host: 'shop.test', Accept: ['*/*'] }],
    ['other empty headers are sent', [['X-A', '']], { 'X-A': [''], Accept: ['*/*'] }],
  ] as const)('%s', (_rule, given, expected) => {
    const httpHeaders = given.map(([name, value]) => ({ name, value }));
    const { 'User-Agent': userAgent, ...headers } = requestOf(address, { port, httpHeaders }).headers;
    expect(headers).toEqual(expected);
    expect(userAgent).toEqual(['kube-probe/1.36']);
  });

  it.each([
    ['/', '/'],
    ['', '/'],
    ['healthz', '/healthz'],
    ['/a?b=c&d=%20', '/a?b=c&d=%20'],
    ['/a b/ü', '/a%20b/%C3%BC'],
    ['/a#part', '/a'],
    ['/a/../b', '/a/../b'],
    ['//other.test/a', '//other.test/a'],
  ])('asks for the path %j as %j', (path, expected) => {
    expect(requestOf(address, { port, path }).path).toBe(expected);
  });

  it('a request is by TLS where its scheme says so', () => {
    expect(urlOf(requestOf(address, { port, scheme: 'HTTPS' }))).toBe('https://10.0.0.1:8080/');
  });
});

describe('redirectOf', () => {
  const from = requestOf(address, { port, path: '/a/b', httpHeaders: [{ name: 'host', value: 'shop.test' }] });
  const to = (location: string, status = 302) => {
    const next = redirectOf(from, { status, location });
    return next && { url: urlOf(next), host: next.host, virtual: next.headers['host'] };
  };

  it.each([
    ['/c', { url: 'http://10.0.0.1:8080/c', host: '10.0.0.1', virtual: 'shop.test' }],
    ['c?d', { url: 'http://10.0.0.1:8080/a/c?d', host: '10.0.0.1', virtual: 'shop.test' }],
    ['https://10.0.0.1/c', { url: 'https://10.0.0.1:443/c', host: '10.0.0.1', virtual: undefined }],
    ['http://[fd00::1]:81/', { url: 'http://[fd00::1]:81/', host: 'fd00::1', virtual: undefined }],
  ])('leads to %j', (location, expected) => {
    expect(to(location)).toEqual(expected);
  });

  it('only 301, 302, 303, 307 and 308 with a Location are redirects', () => {
    expect(to('')).toBeUndefined();
    expect(to('/c', 304)).toBeUndefined();
    expect(to('/c', 200)).toBeUndefined();
  });

  it('a redirect to what cannot be asked fails', () => {
    expect(() => to('http://[')).toThrow('failed to parse Location header "http://["');
    expect(() => to('ftp://10.0.0.1/')).toThrow('unsupported protocol scheme "ftp"');
  });
});
