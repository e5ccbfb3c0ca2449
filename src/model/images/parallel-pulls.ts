import type { KubeletConfiguration } from '../config/kubelet-configuration.ts';

/** Pulls that go on at the same time where the configuration says nothing. */
const UNSAID = 4;

/**
 * How many images are pulled at the same time. What the configuration says means what it means to the kubelet; where
 * it says nothing, the kubelet pulls one after another, so that a registry that does not answer holds up all others.
 */
export function parallelPulls({
  serializeImagePulls,
  maxParallelImagePulls,
}: Pick<KubeletConfiguration, 'serializeImagePulls' | 'maxParallelImagePulls'>): number {
  if (serializeImagePulls === undefined) return UNSAID;
  return serializeImagePulls ? 1 : (maxParallelImagePulls ?? Infinity);
}
