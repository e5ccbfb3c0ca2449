import { deepEqual } from '../../model/deep-equal.ts';
import type { Pod } from '../../model/pod.ts';
import { isRecord } from '../../model/schema/check-shape.ts';
import { formatFieldPath, type FieldPath } from '../../model/schema/field-path.ts';

/** Paths of the fields in which two versions of a pod differ; never their values, which may be secret. */
export function changedFields(before: Pod | undefined, after: Pod | undefined): readonly string[] {
  const found: string[] = [];
  compare(partsOf(before), partsOf(after), []);
  return found;

  function compare(a: unknown, b: unknown, path: FieldPath): void {
    if (deepEqual(a, b)) return;
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      a.forEach((item: unknown, index) => {
        compare(item, b[index], [...path, index]);
      });
    } else if (isRecord(a) && isRecord(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) compare(a[key], b[key], [...path, key]);
    } else found.push(formatFieldPath(path));
  }
}

/** What a manifest says: without the annotations by which rxlet marks its pods. */
function partsOf(pod: Pod | undefined): unknown {
  if (!pod) return {};
  const { labels, annotations } = pod.metadata;
  const own = Object.entries(annotations).filter(([name]) => !name.startsWith('kubernetes.io/config.'));
  return { metadata: { labels, annotations: Object.fromEntries(own) }, spec: pod.spec };
}
