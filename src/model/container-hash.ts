import { goJson } from './go-json.ts';

/**
 * The hash by which the kubelet notices that a container's definition changed: FNV-1a (32 bit) over the printed
 * bytes of `{"image":I,"name":N}` as Go's JSON writes it (facts sheet 10.4). Only name and image count.
 */
export function containerHash(name: string, image: string): string {
  const bytes = new TextEncoder().encode(`{"image":${goJson(image)},"name":${goJson(name)}}`);
  return fnv1a32(`([]uint8)[${bytes.join(' ')}]`).toString(16);
}

function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
