import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/simulation/seeded-random.ts';
import { decodeManifest } from '../../../src/sources/manifest/decode-manifest.ts';
import { readYaml } from '../../../src/sources/yaml/read-yaml.ts';
import type { PodView } from '../../../src/streams/view/node-view.ts';
import { readCorpus } from '../../corpus/record.ts';
import { FACTS } from '../../corpus/recorded-node.ts';
import { liveWithRubbish } from './fuzz-life.ts';
import { mutateManifest, original } from './mutate-manifest.ts';

/** `RXLET_FUZZ_COUNT=20000 RXLET_FUZZ_SEED=$RANDOM npx vitest run test/simulation/fuzz` looks further. */
const COUNT = Number(process.env['RXLET_FUZZ_COUNT'] ?? 1_000);
const SEED = Number(process.env['RXLET_FUZZ_SEED'] ?? 36);
/** Manifests in one life of an agent. */
const SHARE = 250;

const LONGEST = 20_000;
const { cases } = readCorpus(join(import.meta.dirname, '../../corpus/cases'));
const originals = cases
  .flatMap(({ manifests }) => [...manifests.values()])
  .map((bytes) => bytes.toString('utf8'))
  .filter((text) => text.trim() !== '' && text.length < LONGEST)
  .map(original);

const shares = Array.from({ length: Math.ceil(COUNT / SHARE) }, (_, index) => SEED + index);

describe(`${COUNT} manifests spoiled at random`, () => {
  it.each(shares)('leave the agent and its other pods alone, and each is told of (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const mutations = Array.from({ length: SHARE }, () => mutateManifest(originals, random));
    const { fates, failures, disturbances, bystanderRuns } = liveWithRubbish(mutations.map(({ text }) => text));
    expect(failures).toEqual([]);
    expect(disturbances).toEqual([]);
    expect(bystanderRuns).toBe(true);
    expect(fates).toHaveLength(SHARE);
    const untold = fates.flatMap((fate, index) => {
      const wrong = complaintOf(fate);
      return wrong === undefined ? [] : [`${wrong} (${mutations[index]?.name ?? ''}):\n${fate.text.slice(0, 2_000)}`];
    });
    expect(untold).toEqual([]);
  });
});

type Fate = ReturnType<typeof liveWithRubbish>['fates'][number];

/** Why nobody could tell what became of a file. */
function complaintOf({ origin, text, problems, pods }: Fate): string | undefined {
  const hasDocuments = (): boolean => readYaml(text.replace(/^\uFEFF/, '')).documents.length > 0;
  if (problems.length > 0) {
    const vague = problems.find(
      ({ message, position, field }) =>
        message === '' || (position === undefined && field === undefined && hasDocuments()),
    );
    return vague && `a problem does not say what is wrong, or where: ${JSON.stringify(vague)}`;
  }
  const decoded = decodeManifest(text, { origin, source: 'file', nodeName: FACTS.nodeName });
  if (decoded.problems.length > 0) return `nobody told of ${JSON.stringify(decoded.problems)}`;
  if (decoded.pods.length === 0) return hasDocuments() ? 'there is neither a pod nor a problem' : undefined;
  const [lost] = decoded.pods.flatMap(({ metadata: { uid, name } }) => {
    const view = pods.find(({ pod }) => pod.metadata.uid === uid);
    return view && isTold(view) ? [] : [`${name}: ${JSON.stringify(view?.status ?? 'is not there')}`];
  });
  return lost;
}

/** Taken in, or refused with a reason. */
function isTold({ phase, note, status }: PodView): boolean {
  if (phase === 'waiting') return note !== undefined || status.reason !== undefined;
  return status.phase !== 'Failed' || status.reason !== undefined || (status.containerStatuses ?? []).length > 0;
}
