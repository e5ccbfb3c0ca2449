import type { Observable } from 'rxjs';
import type { VolumeFiles } from '../streams/ports/volume-files.ts';
import type { Calls } from './calls.ts';
import type { MemoryDisk } from './memory-disk.ts';

/** The content of volumes on a disk in memory, which knows no groups. Files of ours stand there without links between. */
export function memoryVolumeFiles(disk: MemoryDisk, calls: Calls): VolumeFiles {
  function asks<T>(name: string, request: unknown, act: () => T): Observable<T> {
    return calls.call({ name: `volumeFiles.${name}`, request, act });
  }

  return {
    setMode: (path, mode) =>
      asks('setMode', { path, mode }, () => {
        const node = disk.nodes.get(path);
        if (node && node.type !== 'link') disk.put(path, { ...node, mode });
        return undefined;
      }),
    giveToGroup: (path, ownership) => asks('giveToGroup', { path, ...ownership }, () => undefined),
    writePayload: (dir, payload, ownership) =>
      asks('writePayload', { dir, payload: Object.fromEntries(payload), ownership }, () => {
        const prefix = `${dir}/`;
        const old = [...disk.nodes].filter(([path, { type }]) => path.startsWith(prefix) && type === 'file');
        const isSame =
          old.length === payload.size &&
          old.every(([path, node]) => {
            const wanted = payload.get(path.slice(prefix.length));
            return (
              node.type === 'file' &&
              wanted !== undefined &&
              textOf(wanted.content) === node.content &&
              wanted.mode === node.mode
            );
          });
        if (isSame) return false;
        disk.needRoom(dir);
        for (const [path] of old) disk.removeFile(path);
        for (const [path, { content, mode }] of payload)
          disk.put(prefix + path, { type: 'file', mode, content: textOf(content) });
        return true;
      }),
    usage: (path) =>
      asks('usage', { path }, () =>
        [...disk.nodes]
          .filter(([other]) => other.startsWith(`${path}/`))
          .map(([, node]) => (node.type === 'file' ? node.content.length : 0))
          .reduce((sum, bytes) => sum + bytes, 0),
      ),
  };
}

function textOf(content: string | Uint8Array): string {
  return typeof content === 'string' ? content : new TextDecoder().decode(content);
}
