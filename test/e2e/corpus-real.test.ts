import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { RealResult } from '../corpus/real/play-batch.ts';
import { describeGap } from '../corpus/diff.ts';
import { nodeFolder } from './harness/private-node.ts';

const HOME = fileURLToPath(new URL('../..', import.meta.url));

/** Milliseconds: those that differ are lived through once more, one after another. */
const LIMIT = 900_000;

it(
  'makes of one recorded manifest of every group what the kubelet made of it, in the runtime, in the status and on the disk',
  { timeout: LIMIT },
  async () => {
    const json = join(nodeFolder(), 'corpus.json');
    const { stdout } = await promisify(execFile)(
      join(HOME, 'scripts/lib/corpus-node'),
      [
        process.execPath,
        join(HOME, 'scripts/corpus.mjs'),
        join(HOME, 'test/corpus/cases'),
        ...['--mode', 'real', '--sample', '--at-once', '20', '--json', json],
      ],
      { maxBuffer: 64 * 2 ** 20, timeout: LIMIT - 30_000 },
    );
    const results = JSON.parse(readFileSync(json, 'utf8')) as readonly (RealResult & { readonly id: string })[];
    const differences = results.flatMap(({ id, result, files }) => [
      ...result.differences
        .filter(({ measure, rule }) => rule === undefined && (measure === 'requests' || measure === 'statuses'))
        .map((gap) => `${id} ${gap.measure}: ${describeGap(gap)}`),
      ...files.map((gap) => `${id} ${gap}`),
    ]);
    expect(differences, stdout).toEqual([]);
    // Every group but those whose cases are all slow, or need what is not here.
    expect(new Set(results.map(({ result }) => result.group)).size).toBeGreaterThanOrEqual(12);
  },
);
