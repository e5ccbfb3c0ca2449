import type { V1ObjectFieldSelector, V1Volume, V1VolumeProjection } from '@kubernetes/client-node';
import { formatQuantity, parseQuantity } from '../quantity.ts';
import type { Draft } from './draft.ts';
import { defaultPullPolicy } from './pull-policy.ts';

/** Mode of the files of a configMap, secret, downwardAPI or projected volume: 0644. */
const FILE_MODE = 0o644;

/** Fills in what the API server would in one volume; one without any source is an emptyDir. */
export function defaultVolume(volume: Draft<V1Volume>): Draft<V1Volume> {
  if (Object.keys(volume).every((field) => field === 'name')) return { ...volume, emptyDir: {} };

  const { emptyDir, hostPath, configMap, secret, downwardAPI, projected, iscsi, image } = volume;
  return {
    ...volume,
    ...(emptyDir?.sizeLimit !== undefined && { emptyDir: { ...emptyDir, sizeLimit: canonical(emptyDir.sizeLimit) } }),
    ...(hostPath && { hostPath: { ...hostPath, type: hostPath.type ?? '' } }),
    ...(configMap && { configMap: { ...configMap, defaultMode: configMap.defaultMode ?? FILE_MODE } }),
    ...(secret && { secret: { ...secret, defaultMode: secret.defaultMode ?? FILE_MODE } }),
    ...(downwardAPI && {
      downwardAPI: { ...withItems(downwardAPI), defaultMode: downwardAPI.defaultMode ?? FILE_MODE },
    }),
    ...(projected && {
      projected: {
        ...projected,
        ...(projected.sources && { sources: projected.sources.map(defaultProjection) }),
        defaultMode: projected.defaultMode ?? FILE_MODE,
      },
    }),
    ...(iscsi && { iscsi: { ...iscsi, iscsiInterface: iscsi.iscsiInterface ?? 'default' } }),
    ...(image && { image: { ...image, pullPolicy: image.pullPolicy ?? defaultPullPolicy(image.reference ?? '') } }),
  };
}

export function withApiVersion(fieldRef: Draft<V1ObjectFieldSelector>): Draft<V1ObjectFieldSelector> {
  return { ...fieldRef, apiVersion: fieldRef.apiVersion ?? 'v1' };
}

function defaultProjection(source: Draft<V1VolumeProjection>): Draft<V1VolumeProjection> {
  const { downwardAPI, serviceAccountToken } = source;
  return {
    ...source,
    ...(downwardAPI && { downwardAPI: withItems(downwardAPI) }),
    ...(serviceAccountToken && {
      serviceAccountToken: {
        ...serviceAccountToken,
        expirationSeconds: serviceAccountToken.expirationSeconds ?? 3600,
      },
    }),
  };
}

function withItems<T extends { readonly items?: readonly { readonly fieldRef?: Draft<V1ObjectFieldSelector> }[] }>(
  source: T,
): T {
  if (!source.items) return source;
  const items = source.items.map((item) => ({
    ...item,
    ...(item.fieldRef && { fieldRef: withApiVersion(item.fieldRef) }),
  }));
  return { ...source, items };
}

function canonical(text: string): string {
  const quantity = parseQuantity(text);
  return quantity ? formatQuantity(quantity) : text;
}
