import type { Pod } from '../../../src/model/pod.ts';
import { milliValue, parseQuantity } from '../../../src/model/quantity.ts';
import { decodeCase } from '../compare-spec.ts';
import type { CorpusCase } from '../record.ts';

/** Cases that can be lived through side by side, with one agent. */
export interface Batch {
  readonly variant: string;
  readonly cases: readonly CorpusCase[];
}

/**
 * Puts cases together that share nothing: no file, no name, no port of the node, and not more than half of its
 * processors. What does something to the agent or to the whole folder is on its own.
 */
export function batchesOf(cases: readonly CorpusCase[], most: number): readonly Batch[] {
  const batches: { variant: string; cases: CorpusCase[]; taken: Set<string>; cpu: number; isClosed: boolean }[] = [];
  for (const corpusCase of cases) {
    const variant = corpusCase.record.case.kubeletConfig;
    const { claims, cpu } = wantsOf(corpusCase);
    const isAlone = cpu > MOST_CPU || wantsAll(corpusCase);
    const fitting = batches.find(
      (batch) =>
        !isAlone &&
        !batch.isClosed &&
        batch.variant === variant &&
        batch.cases.length < most &&
        batch.cpu + cpu <= MOST_CPU &&
        claims.every((claim) => !batch.taken.has(claim)),
    );
    const batch = fitting ?? { variant, cases: [], taken: new Set<string>(), cpu: 0, isClosed: isAlone };
    if (!fitting) batches.push(batch);
    batch.cases.push(corpusCase);
    batch.cpu += cpu;
    for (const claim of claims) batch.taken.add(claim);
  }
  return batches;
}

/** Thousandths. */
const MOST_CPU = 1_000;

function wantsAll({ record: { steps = [], case: recorded } }: CorpusCase): boolean {
  const touchesAll = steps.some(
    ({ op, args }) =>
      op === 'restart-kubelet' || (op === 'sh' && /<MANIFESTS>(?:\.away)?(?: |$)/.test(String(args[0]))),
  );
  return touchesAll || recorded.kubeletConfig === 'maxpods';
}

function wantsOf(corpusCase: CorpusCase): { readonly claims: readonly string[]; readonly cpu: number } {
  const { pods } = decodeCase(corpusCase);
  const { record } = corpusCase;
  const recorded = [record, ...(record.others ?? [])].flatMap(({ pod }) => (pod ? [pod.metadata] : []));
  const names = [...pods.map(({ metadata }) => metadata), ...recorded].map(
    ({ namespace, name }) => `${namespace}/${name}`,
  );
  const folders = pods.flatMap(({ spec }) => (spec.volumes ?? []).flatMap(({ hostPath }) => hostPath?.path ?? []));
  return {
    claims: [...corpusCase.manifests.keys(), ...names, ...pods.flatMap(portsOf), ...folders],
    cpu: pods.reduce((sum, pod) => sum + cpuOf(pod), 0),
  };
}

function portsOf({ spec }: Pod): readonly string[] {
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort }) => (hostPort === undefined || hostPort === 0 ? [] : [`port ${hostPort}`])),
  );
}

function cpuOf({ spec }: Pod): number {
  const cpus = spec.containers.map(
    ({ resources }) => resources?.requests?.['cpu'] ?? resources?.limits?.['cpu'] ?? '0',
  );
  return cpus.reduce((sum, cpu) => {
    const quantity = parseQuantity(cpu);
    return sum + (quantity ? milliValue(quantity) : 0);
  }, 0);
}
