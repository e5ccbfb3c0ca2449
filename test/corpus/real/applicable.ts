import type { PodSpec } from '../../../src/model/pod.ts';
import { isImageHere } from '../recorded-node.ts';
import { decodeCase } from '../compare-spec.ts';
import type { CorpusCase } from '../record.ts';

/** Why a case cannot be lived through on a real node of this machine; by what it asks for, never by its name. */
export function whyNotHere(corpusCase: CorpusCase, limit: number): string | undefined {
  const { record } = corpusCase;
  const pods = [record, ...(record.others ?? [])];
  if (record.kubeletPanic !== undefined) return 'the kubelet crashed';
  if (pods.some(({ cri }) => cri.some(({ call }) => call === 'PullImage')))
    return 'pulls from the registry of the recording';
  if (decodeCase(corpusCase).pods.some((pod) => imagesOf(pod.spec).some((image) => !isImageHere(image))))
    return 'wants an image that is not here';
  if (process.env['RXLET_RUNTIME'] === '1.6' && decodeCase(corpusCase).pods.some(({ spec }) => isTooNew(spec)))
    return 'wants what containerd 1.6 cannot do';
  if (record.removedAt > limit) return `takes longer than ${limit} s`;
  if (record.steps?.some(({ op, args }) => op === 'sh' && String(args[0]).includes('crictl')))
    return 'has a step that runs crictl';
  return undefined;
}

/** Volumes from images, and groups that are no others than those of the manifest. */
function isTooNew({ volumes = [], securityContext }: PodSpec): boolean {
  return volumes.some(({ image }) => image) || securityContext?.supplementalGroupsPolicy === 'Strict';
}

interface ImageUsers {
  readonly containers?: readonly { readonly image?: string }[];
  readonly initContainers?: readonly { readonly image?: string }[];
  readonly volumes?: readonly { readonly image?: { readonly reference?: string } }[];
}

function imagesOf({ containers = [], initContainers = [], volumes = [] }: ImageUsers): readonly string[] {
  const named = [...containers, ...initContainers].map(({ image }) => image);
  return [...named, ...volumes.map(({ image }) => image?.reference)].filter((image) => image !== undefined);
}
