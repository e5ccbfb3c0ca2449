import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Volume } from '../../../../src/model/volumes/volume-dir.ts';
import { overLimit } from '../../../../src/runtime/volumes/over-limit.ts';
import type { VolumeFiles } from '../../../../src/streams/ports/volume-files.ts';
import { context, fakeVolumeFiles, podWith } from '../../fakes.ts';

const MI = 1024 ** 2;

function told(volumes: readonly Volume[], usage: VolumeFiles['usage']) {
  const log: string[] = [];
  const notes: string[] = [];
  overLimit(podWith(volumes), context({ volumeFiles: fakeVolumeFiles(log, { usage }) })).subscribe({
    next: ({ level, reason, message }) => notes.push(`${level} ${reason} ${message}`),
    error: (error: unknown) => notes.push(String(error)),
  });
  return { log, notes };
}

const limited = (name: string, sizeLimit: string, medium = ''): Volume => ({ name, emptyDir: { medium, sizeLimit } });

describe('overLimit', () => {
  it('warns of each emptyDir that takes more than its limit', () => {
    const usage: VolumeFiles['usage'] = (path) => of(path.endsWith('/big') ? 6 * MI : MI);
    expect(told([limited('big', '1Mi'), limited('small', '1Mi')], usage).notes).toEqual([
      'Warning EmptyDirLimitExceeded Usage of EmptyDir volume "big" exceeds the limit "1Mi". ',
    ]);
  });

  it('measures only what is on the disk and has a limit', () => {
    const { log, notes } = told(
      [{ name: 'free', emptyDir: {} }, limited('m', '1Mi', 'Memory'), limited('none', '0')],
      () => of(Infinity),
    );
    expect({ log, notes }).toEqual({ log: [], notes: [] });
  });

  it('leaves out what cannot be measured, and goes on with the others', () => {
    const usage: VolumeFiles['usage'] = (path) =>
      path.endsWith('/lost') ? throwError(() => new Error('EIO')) : of(6 * MI);
    expect(told([limited('lost', '1Mi'), limited('big', '1Mi')], usage).notes).toHaveLength(1);
  });
});
