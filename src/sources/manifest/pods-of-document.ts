import { isRecord } from '../../model/schema/check-shape.ts';
import type { FieldPath, FieldProblem } from '../../model/schema/field-path.ts';

/** Something that says it is a Pod, and where in its document it stands. */
export interface PodEntry {
  readonly path: FieldPath;
  readonly value: unknown;
  readonly name?: string;
  readonly namespace?: string;
}

/** Opens lists; whatever is no Pod of the API version `v1` is a problem of its own. */
export function podsOfDocument(value: unknown): {
  readonly entries: readonly PodEntry[];
  readonly problems: readonly FieldProblem[];
} {
  const entries: PodEntry[] = [];
  const problems: FieldProblem[] = [];
  open(value, [], undefined);
  return { entries, problems };

  function open(item: unknown, path: FieldPath, assumed: 'Pod' | undefined): void {
    if (!isRecord(item)) {
      problems.push({ path, message: 'must be a Pod, a PodList or a List of Pods, as a map of fields' });
      return;
    }
    const { kind = assumed, apiVersion = assumed && 'v1' } = item;
    if (typeof kind !== 'string' || kind === '')
      problems.push({ path: [...path, 'kind'], message: 'is required, as Pod' });
    else if (typeof apiVersion !== 'string' || apiVersion === '')
      problems.push({ path: [...path, 'apiVersion'], message: 'is required, as v1' });
    else if (!KINDS.includes(kind))
      problems.push({
        path: [...path, 'kind'],
        message: `${kind} is no kind that can be run from a manifest, only Pod`,
      });
    else if (apiVersion !== 'v1')
      problems.push({ path: [...path, 'apiVersion'], message: `${JSON.stringify(apiVersion)} must be v1` });
    else if (kind === 'Pod') entries.push(entryOf(item, path));
    else openItems(item, path, kind === 'PodList' ? 'Pod' : undefined);
  }

  function openItems(
    { items = [], ...rest }: Readonly<Record<string, unknown>>,
    path: FieldPath,
    assumed: 'Pod' | undefined,
  ): void {
    for (const field of Object.keys(rest).filter((name) => !LIST_FIELDS.includes(name)))
      problems.push({ path: [...path, field], message: 'unknown field' });
    if (items === null) return;
    if (!Array.isArray(items)) problems.push({ path: [...path, 'items'], message: 'must be a list' });
    else
      items.forEach((item: unknown, index) => {
        open(item, [...path, 'items', index], assumed);
      });
  }
}

const KINDS = ['Pod', 'PodList', 'List'];
const LIST_FIELDS = ['apiVersion', 'kind', 'metadata'];

function entryOf(value: Readonly<Record<string, unknown>>, path: FieldPath): PodEntry {
  const { name, namespace } = isRecord(value['metadata']) ? value['metadata'] : {};
  return {
    path,
    value,
    ...(typeof name === 'string' && { name }),
    ...(typeof namespace === 'string' && { namespace }),
  };
}
