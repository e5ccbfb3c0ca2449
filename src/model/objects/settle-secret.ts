import type { V1Secret } from '@kubernetes/client-node';
import { readDockerConfig } from '../credentials/docker-config.ts';
import type { Draft } from '../manifest/draft.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import { checkData, sizeOf, sizeOfBase64 } from './check-data.ts';
import type { Secret } from './local-object.ts';
import { settleMetadata } from './settle-metadata.ts';

/**
 * A Secret as the API server would take it; of `data` and `stringData` with one key the latter wins. What is reported
 * never holds a value.
 */
export function settleSecret(
  { metadata = {}, data: encoded = {}, stringData = {}, immutable = false, type: given }: Draft<V1Secret>,
  report: Report,
): Secret {
  const type = given === undefined || given === '' ? 'Opaque' : given;
  checkData(
    [
      ...Object.entries(encoded)
        .filter(([key]) => !Object.hasOwn(stringData, key))
        .map(([key, text]) => ({ key, path: ['data', key], size: sizeOfBase64(text) })),
      ...Object.entries(stringData).map(([key, text]) => ({ key, path: ['stringData', key], size: sizeOf(text) })),
    ],
    report,
  );
  const plain = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
  const data = { ...encoded, ...Object.fromEntries(plain) };
  checkType(type, data, Object.hasOwn(stringData, '.dockerconfigjson') ? 'stringData' : 'data', report);
  return { kind: 'Secret', metadata: settleMetadata(metadata, report), type, data, immutable };
}

/** The keys that a Secret of a type must have; of the second list one is enough. */
const KEYS: Readonly<Record<string, { readonly all?: readonly string[]; readonly any?: readonly string[] }>> = {
  'kubernetes.io/dockerconfigjson': { all: ['.dockerconfigjson'] },
  'kubernetes.io/dockercfg': { all: ['.dockercfg'] },
  'kubernetes.io/basic-auth': { any: ['username', 'password'] },
  'kubernetes.io/ssh-auth': { all: ['ssh-privatekey'] },
  'kubernetes.io/tls': { all: ['tls.crt', 'tls.key'] },
};

function checkType(type: string, data: Secret['data'], field: string, report: Report): void {
  const { all = [], any = [] } = KEYS[type] ?? {};
  const at = (key: string): FieldPath => [field, key];
  for (const key of all) if (!Object.hasOwn(data, key)) report(at(key), `is required in a Secret of type ${type}`);
  if (any.length > 0 && !any.some((key) => Object.hasOwn(data, key)))
    report([field], `must have ${any.join(' or ')} in a Secret of type ${type}`);
  for (const key of ['.dockerconfigjson', '.dockercfg']) {
    if (all.includes(key) && Object.hasOwn(data, key) && !isDockerConfig(data[key] ?? ''))
      report(at(key), 'must be the JSON of a docker configuration');
  }
}

function isDockerConfig(encoded: string): boolean {
  try {
    readDockerConfig(Buffer.from(encoded, 'base64').toString('utf8'));
    return true;
  } catch {
    return false; // the parser's words would quote the value
  }
}
