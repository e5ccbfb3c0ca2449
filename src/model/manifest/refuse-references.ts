import type { FieldPath, FieldProblem } from '../schema/field-path.ts';
import type { PodDraft } from './draft.ts';

/**
 * What of a pod names an object that only an API server could serve (facts sheet 2.4 and 30.1). Config maps, secrets
 * and claims come from manifests.
 */
export function refuseReferences({ spec = {} }: PodDraft): readonly FieldProblem[] {
  const found: (readonly [FieldPath, unknown, string])[] = [
    [['spec', 'serviceAccountName'], spec.serviceAccountName, 'a service account'],
    [['spec', 'resourceClaims'], spec.resourceClaims?.length, 'resource claims'],
  ];
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
  ephemeral: 'a persistent volume claim',
  csi: 'a CSI driver',
  azureFile: 'a secret',
  glusterfs: 'endpoints',
};

const PROJECTIONS = {
  serviceAccountToken: 'a service account',
  clusterTrustBundle: 'a cluster trust bundle',
  podCertificate: 'a certificate of the API server',
};
