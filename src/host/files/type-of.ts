import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { PathType } from '../../streams/ports/files.ts';
import { hasCode } from './system-error.ts';

/** What stands at a path; a link that leads nowhere is missing. */
export async function typeOf(path: string): Promise<PathType> {
  try {
    return nameOf(await stat(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 'missing';
    throw error;
  }
}

function nameOf(stats: Stats): PathType {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSocket()) return 'socket';
  if (stats.isCharacterDevice()) return 'charDevice';
  if (stats.isBlockDevice()) return 'blockDevice';
  return 'other';
}
