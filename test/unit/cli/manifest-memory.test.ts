import { describe, expect, it } from 'vitest';
import { manifestMemory } from '../../../src/cli/manifest-memory.ts';
import { EMPTY_MEMORY, type FileMemory } from '../../../src/sources/file/file-memory.ts';
import { fakeFiles, pod } from '../../marbles/fakes.ts';
import { unexpected } from '../../marbles/operators/unexpected.ts';

const PATH = '/root/manifests.json';

function load(text?: string): FileMemory | undefined {
  const loaded: (FileMemory | undefined)[] = [];
  const texts = new Map(text === undefined ? [] : [[PATH, text]]);
  manifestMemory(PATH, fakeFiles([], {}, texts))
    .load()
    .subscribe({ next: (memory) => loaded.push(memory), error: unexpected });
  expect(loaded.length).toBe(1);
  return loaded[0];
}

describe('manifestMemory', () => {
  it('gives back what it was given', () => {
    const memory: FileMemory = { ...EMPTY_MEMORY, files: { '/m/web.yaml': [pod()] } };
    const texts = new Map<string, string>();
    const log: string[] = [];
    manifestMemory(PATH, fakeFiles(log, {}, texts))
      .save(memory)
      .subscribe();
    expect(log).toEqual(['makeDir /root', `writeFile ${PATH}`]);
    expect(load(texts.get(PATH))).toEqual(memory);
  });

  it('writes a file that only root may read', () => {
    const modes: number[] = [];
    const files = fakeFiles([]);
    const watched = {
      ...files,
      writeFile: (...[path, text, options]: Parameters<typeof files.writeFile>) => {
        modes.push(options.mode);
        return files.writeFile(path, text, options);
      },
    };
    manifestMemory(PATH, watched).save(EMPTY_MEMORY).subscribe();
    expect(modes).toEqual([0o600]);
  });

  it.each([
    ['there is no file', undefined],
    ['the file was cut off', '{"version":1,"fil'],
    ['the file is of another version', '{"version":2,"files":{},"owners":{}}'],
    ['the file holds something else', '[]'],
  ])('remembers nothing where %s', (_what, text) => {
    expect(load(text)).toBeUndefined();
  });
});
