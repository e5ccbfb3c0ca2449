import { describe, expect, it } from 'vitest';
import { imageGroup } from '../../../src/model/image-group.ts';

const info = (User: unknown): Record<string, string> => ({ info: JSON.stringify({ imageSpec: { config: { User } } }) });

describe('imageGroup', () => {
  it.each<[string, Readonly<Record<string, string>> | undefined, string | undefined]>([
    ['the number behind the user', info('1234:2345'), '2345'],
    ['the name behind the user', info('app:staff'), 'staff'],
    ['none where the image names a user alone', info('1234'), undefined],
    ['none where there is nothing behind the colon', info('1234:'), undefined],
    ['none where the image names nobody', info(undefined), undefined],
    ['none where the runtime does not tell', undefined, undefined],
    ['none where the runtime tells something else', { info: 'OK' }, undefined],
  ])('is %s', (_what, given, group) => {
    expect(imageGroup(given)).toBe(group);
  });
});
