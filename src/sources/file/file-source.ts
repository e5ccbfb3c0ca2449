import { resolve } from 'node:path';
import type { Observable } from 'rxjs';
import type { Desired } from '../../model/desired.ts';
import type { FileMemoryStore } from './file-memory.ts';
import { manifestStream, type FileSourceConfig } from './manifest-stream.ts';
import { scanManifests } from './scan-manifests.ts';
import { watchManifests } from './watch-manifests.ts';

/**
 * What the manifests at a path want to run: emits once after the first look, even when there is nothing, and then
 * whenever pods or problems changed; equal content, however often written, is no change. Never errors, never completes.
 */
export function fileSource(config: FileSourceConfig, store?: FileMemoryStore): Observable<Desired> {
  // The path is part of every UID, so it must not depend on the working directory.
  const path = resolve(config.path);
  return manifestStream(
    { ...config, path },
    {
      watch: () => watchManifests(path),
      scan: (former) => scanManifests(path, former),
      ...(store && { store }),
    },
  );
}
