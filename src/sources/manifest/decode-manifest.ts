import type { Position, Problem } from '../../model/desired.ts';
import type { PodDraft } from '../../model/manifest/draft.ts';
import type { ManifestOrigin } from '../../model/manifest/settle-identity.ts';
import { settlePod, type SettleOptions } from '../../model/manifest/settle-pod.ts';
import type { LocalObject } from '../../model/objects/local-object.ts';
import type { Pod } from '../../model/pod.ts';
import { checkShape } from '../../model/schema/check-shape.ts';
import { formatFieldPath, type FieldPath, type FieldProblem } from '../../model/schema/field-path.ts';
import { POD_SCHEMA } from '../../model/schema/pod-schema.ts';
import { settleShape } from '../../model/schema/settle-shape.ts';
import { readYaml, type YamlDocument } from '../yaml/read-yaml.ts';
import { decodeObject } from './decode-object.ts';
import { entriesOfDocument, type Entry } from './entries-of-document.ts';

export interface DecodedManifest {
  readonly pods: readonly Pod[];
  /** Where each of the pods stands, in the same order. */
  readonly positions: readonly Position[];
  /** What serves pods or stands for some, each with its place. */
  readonly objects: readonly PlacedObject[];
  readonly problems: readonly Problem[];
}

export interface PlacedObject {
  readonly object: LocalObject;
  readonly position: Position;
}

export type DecodeOptions = SettleOptions;

/**
 * Pods, other objects and problems of one manifest: any number of YAML or JSON documents, each a Pod, a PodList, an object
 * of another kind that rxlet can use, or a List of those. Every one is defaulted, settled and valid; one that is not
 * becomes problems with their positions and takes no other with it. A file without any document holds nothing, which is
 * no problem.
 */
export function decodeManifest(text: string, options: DecodeOptions): DecodedManifest {
  const { documents, problems: unreadable } = readYaml(text);
  const pods: Pod[] = [];
  const positions: Position[] = [];
  const objects: PlacedObject[] = [];
  const problems: Problem[] = unreadable.map(({ position, path, message }) =>
    problemOf(options, { position, path: path ?? [], message }),
  );

  for (const document of documents) {
    const { entries, problems: strange } = entriesOfDocument(document.value);
    problems.push(...firstOf(strange).map((problem) => problemOf(options, located(problem, [], document))));
    for (const entry of entries) {
      const { kind, path, value } = entry;
      const { pod, object, problems: mistakes } = kind === 'Pod' ? decodePod(value, options) : decodeOther(kind, value);
      if (pod) {
        pods.push(pod);
        positions.push(document.locate(path));
      }
      if (object) objects.push({ object, position: document.locate(path) });
      const of = namesOf(entry, options);
      for (const mistake of firstOf(mistakes))
        problems.push({ ...problemOf(options, located(mistake, path, document)), ...of });
    }
  }
  return { pods, positions, objects, problems: problems.toSorted(byPosition) };

  function decodeOther(kind: LocalObject['kind'], value: unknown): Decoded {
    const { origin, source, nodeName } = options;
    return decodeObject(kind, value, { origin, source, nodeName });
  }
}

interface Decoded {
  readonly pod?: Pod;
  readonly object?: LocalObject;
  readonly problems: readonly FieldProblem[];
}

/** As many as somebody may want to read; a list of a wrong type has as many mistakes as items. */
function firstOf(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  const shown = problems.slice(0, MOST_PROBLEMS);
  return [...shown, { path: [], message: `has ${problems.length - MOST_PROBLEMS} more mistakes` }];
}

const MOST_PROBLEMS = 50;

function byPosition({ position: a }: Problem, { position: b }: Problem): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

function decodePod(value: unknown, options: DecodeOptions): Decoded {
  const misshapen = checkShape(POD_SCHEMA, 'Pod', value);
  if (misshapen.length > 0) return { problems: misshapen };
  return settlePod(settleShape(POD_SCHEMA, 'Pod', value) as PodDraft, options);
}

interface Located extends FieldProblem {
  readonly position: Position;
}

function located({ path, message }: FieldProblem, prefix: FieldPath, document: YamlDocument): Located {
  return { path, message, position: document.locate([...prefix, ...path]) };
}

function problemOf({ source, origin }: ManifestOrigin, { position, path, message }: Located): Problem {
  return { source, origin, position, ...(path.length > 0 && { field: formatFieldPath(path) }), message };
}

function namesOf({ kind, name, namespace }: Entry, { nodeName }: ManifestOrigin): Pick<Problem, 'pod' | 'object'> {
  if (name === undefined) return {};
  const full = `${namespace ?? 'default'}/${name}`;
  return kind === 'Pod' ? { pod: `${full}-${nodeName.toLowerCase()}` } : { object: `${kind}/${full}` };
}
