import type { StopMemory } from '../model/pod-command.ts';
import { isRecord } from '../model/schema/check-shape.ts';
import type { StopStore } from '../sources/hold-pods.ts';
import type { Files } from '../streams/ports/files.ts';
import { jsonMemory } from './json-memory.ts';

/** Keeps which pods are stopped by hand as a file of the root directory. */
export function stopMemory(path: string, files: Files): StopStore {
  return jsonMemory(path, files, isStopMemory);
}

function isStopMemory(value: unknown): value is StopMemory {
  if (!isRecord(value) || value['version'] !== 1 || !Array.isArray(value['stopped'])) return false;
  return value['stopped'].every(
    (one: unknown) =>
      isRecord(one) && [one['uid'], one['name'], one['namespace']].every((text) => typeof text === 'string'),
  );
}
