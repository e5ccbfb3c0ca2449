import type { PodDraft, PodTemplateDraft } from '../manifest/draft.ts';
import type { ObjectMetadata } from '../objects/object-metadata.ts';

/** A pod of a template, before its defaults. */
export function podDraft(
  owner: ObjectMetadata,
  { metadata = {}, spec = {} }: PodTemplateDraft,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): PodDraft {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      uid: '', // every pod has its own
      name,
      namespace: owner.namespace,
      labels: { ...metadata.labels, ...labels },
    },
    spec,
  };
}
