import { chmod } from 'node:fs/promises';
import { defer, finalize, from, map } from 'rxjs';
import type { VolumeFiles } from '../../streams/ports/volume-files.ts';
import { writePayload } from '../atomic-writer/write-payload.ts';
import { diskUsage } from './disk-usage.ts';
import { giveToGroup } from './give-to-group.ts';

/** The content of volumes on this machine. */
export function nodeVolumeFiles(): VolumeFiles {
  return {
    setMode: (path, mode) => defer(() => chmod(path, mode)).pipe(map(() => undefined)),
    giveToGroup: (path, ownership) => defer(() => giveToGroup(path, ownership)).pipe(map(() => undefined)),
    writePayload: (dir, payload, ownership) =>
      defer(() =>
        writePayload(dir, payload, async () => {
          if (ownership) await giveToGroup(dir, ownership);
        }),
      ),
    usage: (path) =>
      defer(() => {
        const abort = new AbortController();
        return from(diskUsage(path, abort.signal)).pipe(
          finalize(() => {
            abort.abort();
          }),
        );
      }),
  };
}
