import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the generated CRI files are what the .proto files say', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/generate-cri.mjs', '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
