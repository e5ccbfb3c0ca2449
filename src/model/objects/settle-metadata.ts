import type { V1ObjectMeta } from '@kubernetes/client-node';
import type { Draft } from '../manifest/draft.ts';
import { obeys, required } from '../manifest/rules.ts';
import { dnsLabel, dnsSubdomain } from '../manifest/syntax.ts';
import { validateAnnotations, validateLabels } from '../manifest/validate-metadata.ts';
import type { Report } from '../schema/field-path.ts';
import type { ObjectMetadata } from './object-metadata.ts';

/** The names of an object that is no pod, checked. Other fields of `metadata` mean nothing here. */
export function settleMetadata(
  { name = '', namespace = '', labels = {}, annotations = {} }: Draft<V1ObjectMeta>,
  report: Report,
): ObjectMetadata {
  if (required(report, ['metadata', 'name'], name)) obeys(report, ['metadata', 'name'], name, dnsSubdomain);
  obeys(report, ['metadata', 'namespace'], namespace, dnsLabel);
  validateLabels(labels, ['metadata', 'labels'], report);
  validateAnnotations(annotations, ['metadata', 'annotations'], report);
  return { name, namespace: namespace === '' ? 'default' : namespace, labels, annotations };
}
