import type { V1Volume } from '@kubernetes/client-node';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { ContainerDraft, Draft } from './draft.ts';
import { distinct, obeys, oneOf, required } from './rules.ts';
import { relativePath } from './syntax.ts';

/** Rules of `volumeMounts` and `volumeDevices`: every one names a volume of the pod, and no two share a place. */
export function validateMounts(
  container: ContainerDraft,
  volumes: readonly Draft<V1Volume>[],
  path: FieldPath,
  report: Report,
): void {
  const { volumeMounts: mounts = [], volumeDevices: devices = [], securityContext } = container;
  mounts.forEach((mount, index) => {
    const at = (field: string): FieldPath => [...path, 'volumeMounts', index, field];
    if (required(report, at('name'), mount.name) && !volumes.some(({ name }) => name === mount.name)) {
      report(at('name'), `the pod has no volume ${JSON.stringify(mount.name)}`);
    }
    required(report, at('mountPath'), mount.mountPath);
    obeys(report, at('subPath'), mount.subPath, relativePath);
    obeys(report, at('subPathExpr'), mount.subPathExpr, relativePath);
    if (mount.subPath && mount.subPathExpr) report(at('subPathExpr'), 'must not be given beside subPath');
    oneOf(report, at('mountPropagation'), mount.mountPropagation, ['None', 'HostToContainer', 'Bidirectional']);
    if (mount.mountPropagation === 'Bidirectional' && securityContext?.privileged !== true) {
      report(at('mountPropagation'), 'must not be Bidirectional unless the container is privileged');
    }
    const recursive = mount.recursiveReadOnly;
    oneOf(report, at('recursiveReadOnly'), recursive, ['Disabled', 'IfPossible', 'Enabled']);
    if (recursive !== 'IfPossible' && recursive !== 'Enabled') return;
    if (mount.readOnly !== true) report(at('recursiveReadOnly'), 'must not be given unless readOnly is true');
    if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None')
      report(at('recursiveReadOnly'), 'must not be given beside a mountPropagation');
  });
  devices.forEach(({ name, devicePath }, index) => {
    const at = (field: string): FieldPath => [...path, 'volumeDevices', index, field];
    const volume = volumes.find((candidate) => candidate.name === name);
    if (required(report, at('name'), name) && !volume?.persistentVolumeClaim && !volume?.ephemeral) {
      report(at('name'), `${JSON.stringify(name)} must be a persistentVolumeClaim or ephemeral volume of the pod`);
    }
    if (required(report, at('devicePath'), devicePath))
      obeys(report, at('devicePath'), devicePath, (text) =>
        text.split('/').includes('..') ? 'must not contain ".."' : undefined,
      );
  });
  distinct(report, [
    ...mounts.map(({ mountPath }, index): [FieldPath, string | undefined] => [
      [...path, 'volumeMounts', index, 'mountPath'],
      mountPath,
    ]),
    ...devices.map(({ devicePath }, index): [FieldPath, string | undefined] => [
      [...path, 'volumeDevices', index, 'devicePath'],
      devicePath,
    ]),
  ]);
}
