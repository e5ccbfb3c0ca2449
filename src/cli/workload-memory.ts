import { isRecord } from '../model/schema/check-shape.ts';
import type { WorkloadMemory } from '../model/workloads/expand-workloads.ts';
import type { WorkloadStore } from '../sources/expand-desired.ts';
import type { Files } from '../streams/ports/files.ts';
import { jsonMemory } from './json-memory.ts';

/** Keeps what has come of workloads as a file of the root directory, readable by root only. */
export function workloadMemory(path: string, files: Files): WorkloadStore {
  return jsonMemory(path, files, isWorkloadMemory);
}

function isWorkloadMemory(value: unknown): value is WorkloadMemory {
  return isRecord(value) && value['version'] === 1 && isRecord(value['slots']) && isRecord(value['jobs']);
}
