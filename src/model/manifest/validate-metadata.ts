import type { V1ObjectMeta } from '@kubernetes/client-node';
import { CONFIG_MIRROR } from '../config-annotations.ts';
import { annotationProblem } from '../rxlet-annotations.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { Draft } from './draft.ts';
import { obeys, required } from './rules.ts';
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName, type Syntax } from './syntax.ts';

/** Rules of a settled pod's `metadata`: the name has the node's suffix, namespace and UID are there. */
export function validateMetadata(metadata: Draft<V1ObjectMeta>, report: Report): void {
  const at = (...path: FieldPath): FieldPath => ['metadata', ...path];
  if (required(report, at('name'), metadata.name)) obeys(report, at('name'), metadata.name, dnsSubdomain);
  obeys(report, at('namespace'), metadata.namespace, dnsLabel);
  obeys(report, at('uid'), metadata.uid, uid);
  validateLabels(metadata.labels, at('labels'), report);
  validateAnnotations(metadata.annotations ?? {}, at('annotations'), report);
  metadata.finalizers?.forEach((name, index) => {
    obeys(report, at('finalizers', index), name, qualifiedName);
  });
}

export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  report: Report,
): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    obeyKey(report, [...path, key], key);
    obeys(report, [...path, key], value, labelValue);
  }
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: FieldPath,
  report: Report,
): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    obeyKey(report, [...path, key], key.toLowerCase());
    size += key.length + value.length;
    const problem = annotationProblem(key, value);
    if (problem !== undefined) report([...path, key], problem);
  }
  if (size > LARGEST_ANNOTATIONS) report(path, `must not be larger than ${LARGEST_ANNOTATIONS} bytes in all`);
  if (annotations[CONFIG_MIRROR] !== undefined) {
    report([...path, CONFIG_MIRROR], 'marks the image of a static pod in the API server, which no manifest can be');
  }
}

function obeyKey(report: Report, path: FieldPath, key: string): void {
  const message = qualifiedName(key);
  if (message !== undefined) report(path, `the key ${JSON.stringify(key)} ${message}`);
}

/** It becomes part of directory names, and log directories are parsed from their last `_`. */
const uid: Syntax = (text) =>
  /^[A-Za-z\d][A-Za-z\d.-]{0,252}$/.test(text)
    ? undefined
    : 'must be at most 253 letters, digits, "-" and ".", as it names directories';

const LARGEST_ANNOTATIONS = 256 * 1024;
