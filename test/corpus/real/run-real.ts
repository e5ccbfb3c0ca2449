import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { lookAtRuntime } from '../../e2e/harness/runtime-look.ts';
import type { Difference } from '../allowed-differences.ts';
import type { CaseResult } from '../compare-case.ts';
import { describeGap } from '../diff.ts';
import type { CorpusCase } from '../record.ts';
import { whyNotHere } from './applicable.ts';
import { batchesOf, type Batch } from './batches.ts';
import { playBatch, type RealResult } from './play-batch.ts';

export interface RealOptions {
  /** Cases at once. */
  readonly most: number;
  /** Seconds; what the recording took longer for is left out. */
  readonly limit: number;
  /** Whether one quick case of every group is enough. */
  readonly sample: boolean;
  readonly json?: string;
}

/** Lives through the cases on this node, which `scripts/lib/corpus-node` has made, and prints how it went. */
export async function runReal(cases: readonly CorpusCase[], { most, limit, sample, json }: RealOptions): Promise<void> {
  const leftOut = new Map<CorpusCase, string>();
  for (const each of cases) {
    const why = whyNotHere(each, limit);
    if (why !== undefined) leftOut.set(each, why);
  }
  const here = cases.filter((each) => !leftOut.has(each));
  const batches = batchesOf(sample ? sampleOf(here) : here, most);
  const tagById = imageIds();
  const runtime = lookAtRuntime();
  const socket = createServer().listen('/srv/gold/fix/hp/sock');
  // What answered on the node of the recording: the kubelet at its healthzPort.
  const healthz = createHttpServer((_request, response) => response.end('ok'));
  healthz.on('error', () => undefined); // where the agent itself answers there
  healthz.listen(10_348, '127.0.0.1');
  const results = new Map<CorpusCase, RealResult>();
  try {
    const play = async (some: readonly Batch[]): Promise<void> => {
      for (const batch of some)
        for (const [corpusCase, real] of await playBatch(batch, runtime, tagById)) {
          results.set(corpusCase, real);
          print(real);
        }
    };
    await play(batches);
    // Of many pods side by side on a busy machine, some come later than the recording ended, and some go unseen.
    const late = [...results].filter(([, real]) => !isAsRecorded(real)).map(([corpusCase]) => corpusCase);
    if (most > 1 && late.length > 0) {
      console.log(`\nonce more, each on its own: ${late.length}`);
      await play(batchesOf(late, 1));
    }
  } finally {
    runtime.close();
    socket.close();
    healthz.close();
  }
  if (json !== undefined)
    writeFileSync(
      json,
      `${JSON.stringify(
        [...results].map(([{ id }, real]) => ({ id, ...real })),
        undefined,
        1,
      )}\n`,
    );
  const reasons = new Map<string, number>();
  for (const why of leftOut.values()) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  console.log('\nnot applicable here, and in how many cases:');
  for (const [why, count] of [...reasons].sort()) console.log(`  ${why}: ${count}`);
  const all = [...results.values()];
  const count = (isEqual: (real: RealResult) => boolean): string => `${all.filter(isEqual).length} of ${all.length}`;
  console.log(
    `beside that: ${count(({ files, result }) => files.length === 0 && result.equal.statuses && result.equal.requests)} with all files equal`,
  );
  console.log(
    `corpus: ${count(({ result }) => result.equal.requests)} requests equal, ${count(({ result }) => result.equal.statuses)} statuses equal`,
  );
}

function unexplained({ differences }: CaseResult): readonly Difference[] {
  return differences.filter(
    ({ measure, rule }) => rule === undefined && (measure === 'requests' || measure === 'statuses'),
  );
}

function isAsRecorded({ result, files }: RealResult): boolean {
  return unexplained(result).length === 0 && files.length === 0;
}

/** The first case of every group that is as shipped, has one act and was over within seconds. */
function sampleOf(cases: readonly CorpusCase[]): readonly CorpusCase[] {
  const groups = new Map<string, CorpusCase>();
  for (const each of cases) {
    const { case: recorded, steps = [], removedAt } = each.record;
    const isQuick = recorded.kubeletConfig === 'default' && steps.length === 0 && removedAt < QUICK;
    if (isQuick && !groups.has(recorded.group)) groups.set(recorded.group, each);
  }
  return [...groups.values()];
}

/** Seconds. */
const QUICK = 12;

function print(real: RealResult): void {
  const { result, files, took } = real;
  const { id, problems } = result;
  const shown = unexplained(result);
  console.log(`${isAsRecorded(real) ? 'equal' : 'DIFFERS'} ${id} (${took.toFixed(1)} s)`);
  if (shown.length > 0) for (const problem of problems) console.log(`  refused: ${problem}`);
  for (const difference of shown) console.log(`  ${difference.measure} ${difference.pod} ${describeGap(difference)}`);
  for (const gap of files) console.log(`  ${gap}`);
}

/** The names of images by their ids and by their digests. */
function imageIds(): ReadonlyMap<string, string> {
  const folder = join(process.env['RXLET_CACHE'] ?? '', 'corpus-images');
  const blob = (archive: string, path: string): unknown =>
    JSON.parse(execFileSync('tar', ['-xOf', join(folder, archive), path], { encoding: 'utf8' }));
  return new Map(
    readdirSync(folder)
      .filter((archive) => archive.endsWith('.tar'))
      .flatMap((archive): readonly (readonly [string, string])[] => {
        const { manifests } = blob(archive, './index.json') as {
          readonly manifests: readonly [
            { readonly digest: string; readonly annotations: Readonly<Record<string, string>> },
          ];
        };
        const [{ digest, annotations }] = manifests;
        const { config } = blob(archive, `./blobs/${digest.replace(':', '/')}`) as {
          readonly config: { readonly digest: string };
        };
        const name = annotations['io.containerd.image.name'] ?? '';
        return [
          [digest, name],
          [config.digest, name],
        ];
      }),
  );
}
