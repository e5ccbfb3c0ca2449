import { describe, expect, it } from 'vitest';
import { manifestUrls, parseManifestUrl } from '../../../../src/model/manifest/manifest-url.ts';

describe('manifestUrls', () => {
  it('finds each URL once, with any blanks between them', () => {
    expect(manifestUrls('')).toEqual([]);
    expect(manifestUrls('  http://a/x\n http://b/,;y  http://a/x ')).toEqual(['http://a/x', 'http://b/,;y']);
  });
});

describe('parseManifestUrl', () => {
  it('keeps user and password out of what is shown', () => {
    expect(parseManifestUrl('https://me:p%40ss%C3%BC@Host.test/pods?of=n1#x')).toEqual({
      shown: 'https://host.test/pods?of=n1',
      authorization: `Basic ${Buffer.from('me:p@ssü').toString('base64')}`,
    });
    expect(parseManifestUrl('http://token@h/')?.authorization).toBe(
      `Basic ${Buffer.from('token:').toString('base64')}`,
    );
    expect(parseManifestUrl('http://a:100%25%zz@h/')?.authorization).toBeDefined();
    expect(parseManifestUrl('http://h')).toEqual({ shown: 'http://h/' });
  });

  it.each(['', 'h/pods', 'file:///etc/pods', 'ftp://h/', 'http://', 'http://[::1', 'https://a b/'])(
    'takes no %j',
    (text) => {
      expect(parseManifestUrl(text)).toBeUndefined();
    },
  );
});
