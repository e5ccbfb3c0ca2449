/** Annotations that belong to the node: they say where a pod came from, and nothing about what it is (facts sheet 2.5). */
export const CONFIG_SOURCE = 'kubernetes.io/config.source';
export const CONFIG_SEEN = 'kubernetes.io/config.seen';
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';
