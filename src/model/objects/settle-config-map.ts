import type { V1ConfigMap } from '@kubernetes/client-node';
import type { Draft } from '../manifest/draft.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import { checkData, sizeOf, sizeOfBase64 } from './check-data.ts';
import type { ConfigMap } from './local-object.ts';
import { settleMetadata } from './settle-metadata.ts';

/** A ConfigMap as the API server would take it: keys that can be files, each given once, at most 1 MiB in all. */
export function settleConfigMap(
  { metadata = {}, data = {}, binaryData = {}, immutable = false }: Draft<V1ConfigMap>,
  report: Report,
): ConfigMap {
  const at = (field: string, key: string): FieldPath => [field, key];
  checkData(
    [
      ...Object.entries(data).map(([key, text]) => ({ key, path: at('data', key), size: sizeOf(text) })),
      ...Object.entries(binaryData).map(([key, text]) => ({
        key,
        path: at('binaryData', key),
        size: sizeOfBase64(text),
      })),
    ],
    report,
  );
  for (const key of Object.keys(binaryData)) {
    if (Object.hasOwn(data, key)) report(at('binaryData', key), 'is given in data already');
  }
  return { kind: 'ConfigMap', metadata: settleMetadata(metadata, report), data, binaryData, immutable };
}
