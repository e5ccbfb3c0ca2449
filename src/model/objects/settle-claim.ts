import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import type { Draft } from '../manifest/draft.ts';
import { oneOf } from '../manifest/rules.ts';
import { parseQuantity } from '../quantity.ts';
import type { Report } from '../schema/field-path.ts';
import type { PersistentVolumeClaim } from './local-object.ts';
import { settleMetadata } from './settle-metadata.ts';

const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'];

/**
 * A claim for a folder of this node. The size and the class are noted and not acted on; what asks for one particular
 * volume, or for a block device, is refused.
 */
export function settleClaim(
  { metadata = {}, spec = {} }: Draft<V1PersistentVolumeClaim>,
  report: Report,
): PersistentVolumeClaim {
  const { accessModes = [], resources, volumeMode } = spec;
  if (accessModes.length === 0) report(['spec', 'accessModes'], 'is required');
  accessModes.forEach((mode, index) => {
    oneOf(report, ['spec', 'accessModes', index], mode, ACCESS_MODES);
  });
  if (accessModes.includes('ReadWriteOncePod') && accessModes.length > 1)
    report(['spec', 'accessModes'], 'must not have other modes beside ReadWriteOncePod');
  const size = resources?.requests?.['storage'];
  const at = ['spec', 'resources', 'requests', 'storage'];
  if (size === undefined) report(['spec', 'resources', 'requests'], 'must have storage');
  else if ((parseQuantity(size)?.nano ?? 0n) <= 0n) report(at, 'must be more than 0');
  if (volumeMode === 'Block') report(['spec', 'volumeMode'], 'rxlet gives folders, no block devices');
  else oneOf(report, ['spec', 'volumeMode'], volumeMode, ['Filesystem']);
  for (const field of ['volumeName', 'selector', 'dataSource', 'dataSourceRef', 'volumeAttributesClassName'] as const) {
    if (spec[field] !== undefined)
      report(['spec', field], 'rxlet does not support this field: a claim is a new folder');
  }
  return {
    kind: 'PersistentVolumeClaim',
    metadata: settleMetadata(metadata, report),
    spec: spec as PersistentVolumeClaim['spec'],
  };
}
