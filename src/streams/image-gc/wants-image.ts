import { allContainers } from '../../model/containers.ts';
import type { NodeImage } from '../../model/images/choose-images.ts';
import { fullReference } from '../../model/images/full-reference.ts';
import type { Pod } from '../../model/pod.ts';
import type { PodBook } from '../book/pod-book.ts';

/**
 * Whether a pod that is wanted asks for an image, be it for a container that the runtime does not hold at this moment,
 * for one that is still to be made, or for a volume.
 */
export function wantsImage({ entries }: PodBook, { id, names }: NodeImage): boolean {
  const own = new Set([id, ...names]);
  for (const entry of entries.values()) {
    const again = 'again' in entry ? entry.again : undefined;
    const pods = [entry.phase === 'finished' ? undefined : entry.pod, again];
    if (pods.some((pod) => pod && imagesOf(pod).some((name) => own.has(name)))) return true;
  }
  return false;
}

function imagesOf({ spec }: Pod): readonly string[] {
  const ofVolumes = (spec.volumes ?? []).map(({ image }) => image?.reference);
  return [...allContainers(spec).map(({ image }) => image), ...ofVolumes].flatMap((name) =>
    name === undefined || name === '' ? [] : [fullReference(name)],
  );
}
