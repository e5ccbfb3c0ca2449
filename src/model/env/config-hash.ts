import { canonicalJson } from '../manifest/canonical-json.ts';
import { fnv128 } from '../manifest/fnv128.ts';
import { configMapOf, secretOf, type ObjectSet } from '../objects/object-set.ts';
import { variableReferences } from '../objects/references.ts';
import type { Container, Pod } from '../pod.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../rxlet-annotations.ts';

/**
 * Stands for the data that a container has its variables from, so that a change can be seen over restarts of the agent.
 * `undefined` where nobody asks for that, where there are none, or where one is missing: then all is left as it is.
 */
export function configHash({ metadata }: Pod, container: Container, objects: ObjectSet): string | undefined {
  if (metadata.annotations[RESTART_ON_CONFIG_CHANGE] !== 'true') return undefined;
  const { namespace } = metadata;
  const parts = variableReferences(container, namespace).map((key) => {
    const [kind, , name = ''] = key.split('/');
    const object = kind === 'Secret' ? secretOf(objects, namespace, name) : configMapOf(objects, namespace, name);
    return object && [key, object.data];
  });
  if (parts.length === 0 || parts.includes(undefined)) return undefined;
  return fnv128(canonicalJson(parts));
}
