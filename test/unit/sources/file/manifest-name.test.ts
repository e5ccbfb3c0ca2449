import { describe, expect, it } from 'vitest';
import { isManifestName } from '../../../../src/sources/file/manifest-name.ts';

describe('isManifestName', () => {
  it.each<[rule: string, name: string, is: boolean]>([
    ['takes a file of YAML for a manifest', 'web.yaml', true],
    ['takes a file of YAML under its shorter ending', 'web.yml', true],
    ['takes a file of JSON', 'web.json', true],
    ['takes a name with dots', 'web.v1.yaml', true],
    ['takes no hidden file, whatever it ends in', '.web.yaml', false],
    ['takes no ending without a name', '.yaml', false],
    ['takes no file without an ending', 'web', false],
    ['takes no file of another ending', 'web.txt', false],
    ['takes no ending in capitals', 'web.YAML', false],
    ['takes no swap file of an editor', '.web.yaml.swp', false],
    ['takes no backup of an editor', 'web.yaml~', false],
    ['takes no backup that a person made', 'web.yaml.bak', false],
  ])('%s', (_rule, name, is) => {
    expect(isManifestName(name)).toBe(is);
  });
});
