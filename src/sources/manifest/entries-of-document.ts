import type { ObjectKind } from '../../model/objects/local-object.ts';
import { isRecord } from '../../model/schema/check-shape.ts';
import type { FieldPath, FieldProblem } from '../../model/schema/field-path.ts';
import { suggestName } from '../../model/schema/suggest-name.ts';

/** Something that says it is of a kind that can be used, and where in its document it stands. */
export interface Entry {
  readonly kind: 'Pod' | ObjectKind;
  readonly path: FieldPath;
  readonly value: unknown;
  readonly name?: string;
  readonly namespace?: string;
}

/** Opens lists; whatever is of another kind, or of another version of it, is a problem of its own. */
export function entriesOfDocument(value: unknown): {
  readonly entries: readonly Entry[];
  readonly problems: readonly FieldProblem[];
} {
  const entries: Entry[] = [];
  const problems: FieldProblem[] = [];
  open(value, [], undefined);
  return { entries, problems };

  function open(item: unknown, path: FieldPath, assumed: 'Pod' | undefined): void {
    if (!isRecord(item)) {
      problems.push({ path, message: 'must be an object as a map of fields, for example a Pod' });
      return;
    }
    const { kind = assumed, apiVersion = assumed && 'v1' } = item;
    if (typeof kind !== 'string' || kind === '')
      problems.push({ path: [...path, 'kind'], message: 'is required, for example Pod' });
    else if (!isKnown(kind)) problems.push({ path: [...path, 'kind'], message: unknownKind(kind) });
    else if (typeof apiVersion !== 'string' || apiVersion === '')
      problems.push({ path: [...path, 'apiVersion'], message: `is required, as ${VERSIONS[kind]}` });
    else if (apiVersion !== VERSIONS[kind])
      problems.push({
        path: [...path, 'apiVersion'],
        message: `${JSON.stringify(apiVersion)} must be ${VERSIONS[kind]}`,
      });
    else if (kind === 'PodList' || kind === 'List') openItems(item, path, kind === 'PodList' ? 'Pod' : undefined);
    else entries.push(entryOf(kind, item, path));
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

type Kind = Entry['kind'] | 'PodList' | 'List';

const VERSIONS = {
  Pod: 'v1',
  PodList: 'v1',
  List: 'v1',
  ConfigMap: 'v1',
  Secret: 'v1',
  PersistentVolumeClaim: 'v1',
  Deployment: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
} as const satisfies Readonly<Record<Kind, string>>;

const LIST_FIELDS = ['apiVersion', 'kind', 'metadata'];

function isKnown(kind: string): kind is Kind {
  return Object.hasOwn(VERSIONS, kind);
}

function unknownKind(kind: string): string {
  const kinds = Object.keys(VERSIONS);
  const meant = suggestName(kind, kinds);
  return meant === undefined
    ? `${kind} is no kind that rxlet can use; supported are ${kinds.join(', ')}`
    : `${kind} is no kind that rxlet can use, did you mean ${meant}?`;
}

function entryOf(kind: Entry['kind'], value: Readonly<Record<string, unknown>>, path: FieldPath): Entry {
  const { name, namespace } = isRecord(value['metadata']) ? value['metadata'] : {};
  return {
    kind,
    path,
    value,
    ...(typeof name === 'string' && { name }),
    ...(typeof namespace === 'string' && { namespace }),
  };
}
