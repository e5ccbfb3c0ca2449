import type { FieldPath, FieldProblem } from '../schema/field-path.ts';
import type { ContainerDraft, PodDraft } from './draft.ts';

/**
 * What of a pod names an object of the API server. A manifest runs without one, so it may name none (facts sheet
 * 2.4 and 30.1).
 */
export function refuseReferences({ spec = {} }: PodDraft): readonly FieldProblem[] {
  const found: (readonly [FieldPath, unknown, string])[] = [
    [['spec', 'serviceAccountName'], spec.serviceAccountName, 'a service account'],
    [['spec', 'imagePullSecrets'], spec.imagePullSecrets?.length, 'secrets'],
    [['spec', 'resourceClaims'], spec.resourceClaims?.length, 'resource claims'],
  ];
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    spec[list]?.forEach((container, index) => {
      found.push(...ofContainer(container, ['spec', list, index]));
    });
  }
  spec.volumes?.forEach((volume, index) => {
    const at = (...steps: FieldPath): FieldPath => ['spec', 'volumes', index, ...steps];
    for (const [field, object] of Object.entries(VOLUMES))
      found.push([at(field), volume[field as keyof typeof volume], object]);
    for (const field of ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'] as const) {
      found.push([at(field, 'secretRef'), volume[field]?.secretRef, 'a secret']);
    }
    volume.projected?.sources?.forEach((source, i) => {
      for (const [field, object] of Object.entries(PROJECTIONS)) {
        found.push([at('projected', 'sources', i, field), source[field as keyof typeof source], object]);
      }
    });
  });
  return found
    .filter(([, given]) => given !== undefined && given !== 0 && given !== '')
    .map(([path, , object]) => ({
      path,
      message: `a pod from a manifest must not refer to ${object}, as no API server serves it`,
    }));
}

const VOLUMES = {
  secret: 'a secret',
  configMap: 'a config map',
  persistentVolumeClaim: 'a persistent volume claim',
  ephemeral: 'a persistent volume claim',
  csi: 'a CSI driver',
  azureFile: 'a secret',
  glusterfs: 'endpoints',
};

const PROJECTIONS = {
  secret: 'a secret',
  configMap: 'a config map',
  serviceAccountToken: 'a service account',
  clusterTrustBundle: 'a cluster trust bundle',
  podCertificate: 'a certificate of the API server',
};

function ofContainer(
  { env = [], envFrom = [] }: ContainerDraft,
  path: FieldPath,
): readonly (readonly [FieldPath, unknown, string])[] {
  return [
    ...env.flatMap(({ valueFrom }, index): (readonly [FieldPath, unknown, string])[] => [
      [[...path, 'env', index, 'valueFrom', 'configMapKeyRef'], valueFrom?.configMapKeyRef, 'a config map'],
      [[...path, 'env', index, 'valueFrom', 'secretKeyRef'], valueFrom?.secretKeyRef, 'a secret'],
    ]),
    ...envFrom.flatMap(({ configMapRef, secretRef }, index): (readonly [FieldPath, unknown, string])[] => [
      [[...path, 'envFrom', index, 'configMapRef'], configMapRef, 'a config map'],
      [[...path, 'envFrom', index, 'secretRef'], secretRef, 'a secret'],
    ]),
  ];
}
