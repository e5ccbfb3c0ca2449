import type { V1DownwardAPIVolumeFile, V1KeyToPath, V1Volume, V1VolumeProjection } from '@kubernetes/client-node';
import { parseQuantity } from '../quantity.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { Draft } from './draft.ts';
import { distinct, inRange, obeys, oneOf, required } from './rules.ts';
import { dnsLabel, hasBackstep, relativePath } from './syntax.ts';
import { validateFieldRef, validateResourceFieldRef, VOLUME_FIELDS } from './validate-env.ts';

/** Rules of the pod's volumes: names, no second source (one without any is an emptyDir by now), and what the source says. */
export function validateVolumes(
  volumes: readonly Draft<V1Volume>[],
  serviceAccount: string | undefined,
  path: FieldPath,
  report: Report,
): void {
  volumes.forEach((volume, index) => {
    const at = [...path, index];
    const { name, ...sources } = volume;
    if (required(report, [...at, 'name'], name)) obeys(report, [...at, 'name'], name, dnsLabel);
    const [first, ...others] = Object.keys(sources);
    for (const extra of others)
      report([...at, extra], `must not be given beside ${first ?? ''}: a volume has one source`);
    validateSource(volume, serviceAccount, at, report);
  });
  distinct(
    report,
    volumes.map(({ name }, index) => [[...path, index, 'name'], name]),
  );
}

function validateSource(
  volume: Draft<V1Volume>,
  serviceAccount: string | undefined,
  path: FieldPath,
  report: Report,
): void {
  const {
    emptyDir,
    hostPath,
    downwardAPI,
    projected,
    secret,
    configMap,
    image,
    nfs,
    gitRepo,
    persistentVolumeClaim,
    csi,
  } = volume;
  const at = (...steps: FieldPath): FieldPath => [...path, ...steps];
  if (emptyDir?.sizeLimit !== undefined && (parseQuantity(emptyDir.sizeLimit)?.nano ?? 0n) < 0n) {
    report(at('emptyDir', 'sizeLimit'), 'must not be negative');
  }
  if (hostPath) {
    if (required(report, at('hostPath', 'path'), hostPath.path) && hasBackstep(hostPath.path))
      report(at('hostPath', 'path'), 'must not contain ".."');
    oneOf(report, at('hostPath', 'type'), hostPath.type, HOST_PATH_TYPES);
  }
  if (downwardAPI) validateDownward(downwardAPI.items ?? [], at('downwardAPI'), report);
  for (const [field, source] of Object.entries({ downwardAPI, projected, secret, configMap })) {
    inRange(report, at(field, 'defaultMode'), source?.defaultMode, 0, 0o777);
  }
  if (secret) validateKeys(secret.items ?? [], at('secret'), report);
  if (secret) required(report, at('secret', 'secretName'), secret.secretName);
  if (configMap) validateKeys(configMap.items ?? [], at('configMap'), report);
  if (configMap) required(report, at('configMap', 'name'), configMap.name);
  projected?.sources?.forEach((source, index) => {
    validateProjection(source, serviceAccount, at('projected', 'sources', index), report);
  });
  if (image) oneOf(report, at('image', 'pullPolicy'), image.pullPolicy, ['Always', 'IfNotPresent', 'Never']);
  if (image) required(report, at('image', 'reference'), image.reference);
  if (nfs) {
    required(report, at('nfs', 'server'), nfs.server);
    if (required(report, at('nfs', 'path'), nfs.path) && !nfs.path.startsWith('/'))
      report(at('nfs', 'path'), 'must be an absolute path');
  }
  if (gitRepo) {
    required(report, at('gitRepo', 'repository'), gitRepo.repository);
    obeys(report, at('gitRepo', 'directory'), gitRepo.directory, relativePath);
  }
  if (persistentVolumeClaim)
    required(report, at('persistentVolumeClaim', 'claimName'), persistentVolumeClaim.claimName);
  if (csi) required(report, at('csi', 'driver'), csi.driver);
}

function validateProjection(
  source: Draft<V1VolumeProjection>,
  serviceAccount: string | undefined,
  path: FieldPath,
  report: Report,
): void {
  const [first, ...others] = Object.keys(source);
  if (first === undefined) report(path, 'must have a source');
  for (const extra of others) report([...path, extra], `must not be given beside ${first ?? ''}`);
  const { downwardAPI, secret, configMap, serviceAccountToken } = source;
  if (downwardAPI) validateDownward(downwardAPI.items ?? [], [...path, 'downwardAPI'], report);
  if (secret) required(report, [...path, 'secret', 'name'], secret.name);
  if (configMap) required(report, [...path, 'configMap', 'name'], configMap.name);
  if (secret) validateKeys(secret.items ?? [], [...path, 'secret'], report);
  if (configMap) validateKeys(configMap.items ?? [], [...path, 'configMap'], report);
  if (!serviceAccountToken) return;
  const at = [...path, 'serviceAccountToken'];
  if (serviceAccount === undefined || serviceAccount === '') report(at, 'must not be given without serviceAccountName');
  inRange(report, [...at, 'expirationSeconds'], serviceAccountToken.expirationSeconds, 600, 2 ** 32);
  if (required(report, [...at, 'path'], serviceAccountToken.path))
    obeys(report, [...at, 'path'], serviceAccountToken.path, relativePath);
}

function validateDownward(items: readonly Draft<V1DownwardAPIVolumeFile>[], path: FieldPath, report: Report): void {
  items.forEach(({ path: file, fieldRef, resourceFieldRef, mode }, index) => {
    const at = [...path, 'items', index];
    validateFile(file, mode, at, report);
    if (fieldRef) validateFieldRef(fieldRef, [...at, 'fieldRef'], VOLUME_FIELDS, report);
    if (resourceFieldRef) {
      required(report, [...at, 'resourceFieldRef', 'containerName'], resourceFieldRef.containerName);
      validateResourceFieldRef(resourceFieldRef, [...at, 'resourceFieldRef'], report);
    }
    if (fieldRef && resourceFieldRef) report([...at, 'resourceFieldRef'], 'must not be given beside fieldRef');
    if (!fieldRef && !resourceFieldRef) report(at, 'must have a fieldRef or a resourceFieldRef');
  });
}

function validateKeys(items: readonly Draft<V1KeyToPath>[], path: FieldPath, report: Report): void {
  items.forEach(({ key, path: file, mode }, index) => {
    const at = [...path, 'items', index];
    required(report, [...at, 'key'], key);
    validateFile(file, mode, at, report);
  });
}

function validateFile(file: string | undefined, mode: number | undefined, path: FieldPath, report: Report): void {
  const at = [...path, 'path'];
  if (required(report, at, file)) {
    obeys(report, at, file, relativePath);
    if (file.startsWith('..')) report(at, 'must not begin with ".."');
  }
  inRange(report, [...path, 'mode'], mode, 0, 0o777);
}

const HOST_PATH_TYPES = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
];
