import type { V1EnvVar, V1ObjectFieldSelector, V1ResourceFieldSelector } from '@kubernetes/client-node';
import { parseQuantity } from '../quantity.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { ContainerDraft, Draft } from './draft.ts';
import { obeys, oneOf, required } from './rules.ts';
import { dataKey, envName, qualifiedName, relativePath } from './syntax.ts';

/** Rules of `env` and `envFrom`. A name may come twice: the last one wins. */
export function validateEnv({ env = [], envFrom = [] }: ContainerDraft, path: FieldPath, report: Report): void {
  env.forEach((variable, index) => {
    validateVariable(variable, [...path, 'env', index], report);
  });
  envFrom.forEach(({ prefix, configMapRef, secretRef }, index) => {
    const at = [...path, 'envFrom', index];
    obeys(report, [...at, 'prefix'], prefix, envName);
    if (!configMapRef && !secretRef) report(at, 'must have a configMapRef or a secretRef');
    if (configMapRef && secretRef) report(at, 'must not have both a configMapRef and a secretRef');
    if (configMapRef) required(report, [...at, 'configMapRef', 'name'], configMapRef.name);
    if (secretRef) required(report, [...at, 'secretRef', 'name'], secretRef.name);
  });
}

function validateVariable({ name, value, valueFrom }: Draft<V1EnvVar>, path: FieldPath, report: Report): void {
  if (required(report, [...path, 'name'], name)) obeys(report, [...path, 'name'], name, envName);
  if (!valueFrom) return;
  const at = [...path, 'valueFrom'];
  const sources = Object.keys(valueFrom);
  if (sources.length === 0)
    report(at, 'must have one of fieldRef, resourceFieldRef, fileKeyRef, configMapKeyRef or secretKeyRef');
  if (value !== undefined && value !== '') report(at, 'must not be given beside a value');
  if (sources.length > 1) report(at, 'must not have more than one source');
  const { fieldRef, resourceFieldRef, fileKeyRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef) validateFieldRef(fieldRef, [...at, 'fieldRef'], ENV_FIELDS, report);
  if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, [...at, 'resourceFieldRef'], report);
  for (const [field, ref] of Object.entries({ configMapKeyRef, secretKeyRef })) {
    if (!ref) continue;
    required(report, [...at, field, 'name'], ref.name);
    if (required(report, [...at, field, 'key'], ref.key)) obeys(report, [...at, field, 'key'], ref.key, dataKey);
  }
  if (fileKeyRef) {
    required(report, [...at, 'fileKeyRef', 'key'], fileKeyRef.key);
    required(report, [...at, 'fileKeyRef', 'volumeName'], fileKeyRef.volumeName);
    if (required(report, [...at, 'fileKeyRef', 'path'], fileKeyRef.path)) {
      obeys(report, [...at, 'fileKeyRef', 'path'], fileKeyRef.path, relativePath);
    }
  }
}

/** What a variable may tell of its pod. */
const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** What a file of a downwardAPI volume may tell of its pod. */
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.labels',
  'metadata.annotations',
  'metadata.uid',
];

export function validateFieldRef(
  { apiVersion, fieldPath }: Draft<V1ObjectFieldSelector>,
  path: FieldPath,
  fields: readonly string[],
  report: Report,
): void {
  if (required(report, [...path, 'apiVersion'], apiVersion)) oneOf(report, [...path, 'apiVersion'], apiVersion, ['v1']);
  const at = [...path, 'fieldPath'];
  if (!required(report, at, fieldPath)) return;
  const { field, key } = /^(?<field>metadata\.(?:labels|annotations))\['(?<key>.*)'\]$/.exec(fieldPath)?.groups ?? {};
  if (field === undefined || key === undefined) oneOf(report, at, fieldPath, fields);
  else obeys(report, at, field === 'metadata.annotations' ? key.toLowerCase() : key, qualifiedName);
}

export function validateResourceFieldRef(
  { resource, divisor }: Draft<V1ResourceFieldSelector>,
  path: FieldPath,
  report: Report,
): void {
  const at = [...path, 'resource'];
  if (!required(report, at, resource)) return;
  const kind = /^(?:limits|requests)\.(?<kind>cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(resource)?.groups?.[
    'kind'
  ];
  if (kind === undefined) {
    report(
      at,
      `${JSON.stringify(resource)} must be limits. or requests. and one of cpu, memory, ephemeral-storage, hugepages-<size>`,
    );
    return;
  }
  const allowed = kind === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS;
  const asked = divisor === undefined ? undefined : parseQuantity(divisor);
  if (asked && asked.nano !== 0n && !allowed.some((text) => parseQuantity(text)?.nano === asked.nano)) {
    oneOf(report, [...path, 'divisor'], divisor, allowed);
  }
}

const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
