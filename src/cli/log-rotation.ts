import { nodeLogFiles } from '../host/logs/node-log-files.ts';
import type { KubeletConfiguration } from '../model/config/kubelet-configuration.ts';
import type { NodePaths } from '../model/paths.ts';
import { parseQuantity, wholeValue } from '../model/quantity.ts';
import type { World } from '../streams/agent/world.ts';
import type { Cri } from '../streams/ports/cri.ts';

/** How logs are rotated on this machine; nothing where a negative size says that somebody else does. */
export function logRotation(config: KubeletConfiguration, paths: NodePaths, cri: Cri): Pick<World, 'rotation'> {
  const size = parseQuantity(config.containerLogMaxSize);
  const maxBytes = size ? wholeValue(size) : 0;
  if (maxBytes <= 0) return {};
  return {
    rotation: {
      ports: { files: nodeLogFiles(), cri },
      config: {
        paths,
        maxBytes,
        maxFiles: config.containerLogMaxFiles,
        maxWorkers: config.containerLogMaxWorkers,
        monitorInterval: config.containerLogMonitorInterval,
      },
    },
  };
}
