import type { Image } from '../../../src/model/cri/api.ts';
import type { SimulatedImage } from '../../../src/simulation/image-store.ts';
import type { ImageGcStory } from '../harness.ts';
import { IMAGE_UNIT, type ImagesPlan, type WorldPlan } from './world-plan.ts';

const OLD = 'docker.io/library/old:';

/** What the node and its registry hold at the beginning. */
export function imagesOf({ images }: WorldPlan): Readonly<Record<string, SimulatedImage>> {
  const first = { 'busybox:1.35': { present: true, size: IMAGE_UNIT } };
  if (!images) return first;
  const old = Array.from({ length: images.old }, (_, n): [string, SimulatedImage] => [
    `${OLD}${n}`,
    { present: true, size: 2 * IMAGE_UNIT },
  ]);
  return {
    ...first,
    'busybox:1': { size: IMAGE_UNIT },
    'busybox:2': { size: IMAGE_UNIT },
    'pause:3': { present: true, pinned: true, size: IMAGE_UNIT },
    ...Object.fromEntries(old),
  };
}

/** Whether an image is one that no pod ever asks for, and that may go. */
export function isOld({ repoTags = [] }: Pick<Image, 'repoTags'>): boolean {
  return repoTags.some((name) => name.startsWith(OLD));
}

/** How images are cleared away: by the kubelet's shares, but younger. */
export function imageGcOf({ capacity, maximumAge = 0 }: ImagesPlan): ImageGcStory {
  return {
    capacity: capacity * IMAGE_UNIT,
    limits: {
      highThresholdPercent: 85,
      lowThresholdPercent: 80,
      minimumAge: 5_000,
      maximumAge,
      evictionHard: { 'imagefs.available': '15%' },
    },
  };
}
