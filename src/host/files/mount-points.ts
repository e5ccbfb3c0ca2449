import { readFile } from 'node:fs/promises';

/** Every mount point of this process's mount namespace, in the order in which they were mounted. */
export async function mountPoints(mountInfo = '/proc/self/mountinfo'): Promise<readonly string[]> {
  return parseMountPoints(await readFile(mountInfo, 'utf8'));
}

/** The fifth column of /proc/self/mountinfo; the kernel writes blanks in it as `\040` (proc(5)). */
export function parseMountPoints(mountInfo: string): readonly string[] {
  return mountInfo.split('\n').flatMap((line) => {
    const point = line.split(' ')[4];
    return point === undefined ? [] : [unescapeOctal(point)];
  });
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_match, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
