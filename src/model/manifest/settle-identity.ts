import { CONFIG_SOURCE } from '../config-annotations.ts';
import type { SourceName } from '../pod.ts';
import type { PodDraft } from './draft.ts';
import { canonicalJson } from './canonical-json.ts';
import { fnv128 } from './fnv128.ts';

/** Where a manifest was found. */
export interface ManifestOrigin {
  /** Path of the file, or URL. */
  readonly origin: string;
  readonly source: SourceName;
  readonly nodeName: string;
}

/** Holds the UID (facts sheet 2.5). `config.seen` is stamped when the sources are merged. */
const CONFIG_HASH = 'kubernetes.io/config.hash';

/**
 * Makes the pod of a manifest this node's own (facts sheet 2.4): UID, name with the node's suffix, namespace, node
 * name, annotations, and for files a toleration of every NoExecute taint. A status in a manifest means nothing.
 */
export function settleIdentity(pod: PodDraft, uid: string, { source, nodeName }: ManifestOrigin): PodDraft {
  const { apiVersion = 'v1', kind = 'Pod', metadata = {}, spec = {} } = pod;
  const { namespace = '' } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      name: `${metadata.name ?? ''}-${nodeName.toLowerCase()}`,
      namespace: namespace === '' ? 'default' : namespace,
      uid,
      labels: metadata.labels ?? {},
      annotations: { ...metadata.annotations, [CONFIG_HASH]: uid, [CONFIG_SOURCE]: source },
    },
    spec: {
      ...spec,
      nodeName,
      ...(source === 'file' && {
        tolerations: [...(spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }],
      }),
    },
  };
}

/**
 * The manifest's own UID, or 32 hex digits from the decoded pod before any default, its origin and the node. Key order,
 * comments and form do not count, and no default does, so that a newer agent gives the same pod the same UID.
 */
export function uidOf(decoded: PodDraft, { origin, source, nodeName }: ManifestOrigin): string {
  const given = decoded.metadata?.uid;
  if (given !== undefined && given !== '') return given;
  const { metadata, spec } = decoded;
  const from = source === 'http' ? 'url' : 'file';
  return fnv128([FORMAT, canonicalJson({ metadata, spec }), `host:${nodeName}`, `${from}:${origin}`].join('\n'));
}

/** Never change what follows this tag: every running pod without a UID of its own would start again. */
const FORMAT = 'rxlet-uid-1';
