import type { CaseLife } from './live-case.ts';
import type { Json, JsonObject } from './record.ts';
import { CGROUP_ROOT, HOST_IP, imagePlaceholders, MANIFESTS, PATHS } from './recorded-node.ts';

/** Puts the placeholders of the corpus in the place of what is different in every life (cases/README.md, "Normalisation"). */
export function withPlaceholders<T extends Json>(json: T, life: CaseLife, uids: readonly string[]): T {
  let text = imagePlaceholders(JSON.stringify(json), life.tagById);
  for (const uid of uids) text = text.replaceAll(uid, '<UID>');
  for (const [id, name] of life.containerNames) text = text.replaceAll(id, `<CONTAINER_ID:${name}>`);
  text = text
    .replaceAll(PATHS.rootDir, '<ROOT>')
    .replaceAll(MANIFESTS, '<MANIFESTS>')
    .replaceAll(`"${CGROUP_ROOT}/`, '"/')
    .replaceAll(/(<ROOT>\/pods\/<UID>\/containers\/[^/"]+\/)[0-9a-f]{8}"/g, '$1<TERMLOG>"')
    .replaceAll(/\b10\.88\.\d+\.\d+\b/g, '<POD_IP>')
    .replaceAll(HOST_IP, '<HOST_IP>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, '<TIME>');
  return JSON.parse(text) as T;
}

/** One form for the many placeholders of the second, third, ... of a kind: which of them is meant is compared elsewhere. */
export function withoutNumbers<T extends Json>(json: T): T {
  const text = JSON.stringify(json)
    .replaceAll(/<(UID|POD_IP|SANDBOX_ID):\d+>/g, '<$1>')
    .replaceAll(/<CONTAINER_ID:([^>@/]+)[^>]*>/g, '<CONTAINER_ID:$1>');
  return JSON.parse(text) as T;
}

/** The kubelet sends variables in any order. */
export function sortEnvs(config: JsonObject): JsonObject {
  const { envs } = config;
  if (!Array.isArray(envs)) return config;
  const key = (env: Json): string => JSON.stringify((env as JsonObject)['key']);
  return { ...config, envs: envs.toSorted((a: Json, b: Json) => (key(a) < key(b) ? -1 : 1)) };
}
