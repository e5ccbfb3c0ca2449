import { decodeManifest } from '../../src/sources/manifest/decode-manifest.ts';
import type { Pod } from '../../src/model/pod.ts';
import { diff, type Gap } from './diff.ts';
import type { CorpusCase, Json, PodRecord } from './record.ts';
import { FACTS, imagePlaceholders, MANIFESTS } from './recorded-node.ts';

/** What the manifests of a case decode to, with what rxlet cannot act on yet let through. */
export interface Decoded {
  readonly pods: readonly Pod[];
  readonly problems: readonly string[];
}

export function decodeCase({ manifests, stepTexts }: CorpusCase): Decoded {
  const [first = 'manifest.yaml'] = manifests.keys();
  const texts = [...manifests, ...stepTexts.map((text) => [first, text] as const)];
  const decoded = texts.map(([name, bytes]) =>
    decodeManifest(bytes.toString('utf8'), {
      origin: `${MANIFESTS}/${name}`,
      source: 'file',
      nodeName: FACTS.nodeName,
      allowUnsupported: true,
    }),
  );
  return {
    pods: decoded.flatMap(({ pods }) => pods),
    problems: decoded.flatMap(({ problems }) =>
      problems.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`)),
    ),
  };
}

/** Compares what a pod is taken in as, defaults and all, with what the kubelet served of it last. */
export function compareSpec(record: PodRecord, { pods, problems }: Decoded): readonly Gap[] {
  if (!record.pod) return [];
  const { name, namespace } = record.pod.metadata;
  const versions = pods.filter(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (versions.length === 0) return [{ path: 'spec', expected: 'is taken in', got: problems.join('; ') }];
  const candidates = versions.map((pod) => diff(expectedOf(record), comparable(pod)));
  const [best = []] = candidates.toSorted((a, b) => a.length - b.length);
  return best;
}

interface Comparable {
  readonly metadata: Pick<Pod['metadata'], 'labels' | 'annotations'>;
  readonly spec: Pod['spec'];
}

function expectedOf({ pod }: PodRecord): Json {
  const { metadata, spec } = pod as unknown as {
    readonly metadata: Partial<Pod['metadata']>;
    readonly spec: Pod['spec'];
  };
  return comparable({ metadata: { labels: {}, annotations: {}, ...metadata }, spec });
}

/** UIDs, and the annotations that hold them, are compared where they reach the runtime. */
function comparable({ metadata, spec }: Comparable): Json {
  const annotations = Object.entries(metadata.annotations).filter(([key]) => !key.startsWith('kubernetes.io/config.'));
  const parts = { spec, labels: metadata.labels, annotations: Object.fromEntries(annotations) };
  const text = imagePlaceholders(JSON.stringify(parts), new Map());
  // What is empty is left out where it is served.
  return JSON.parse(text, (key, value: Json) => (key === 'value' && value === '' ? undefined : value)) as Json;
}
