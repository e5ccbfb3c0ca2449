import type { Position, Problem } from '../../model/desired.ts';
import { applyDefaults } from '../../model/manifest/apply-defaults.ts';
import type { PodDraft } from '../../model/manifest/draft.ts';
import { refuseReferences } from '../../model/manifest/refuse-references.ts';
import { refuseUnsupported } from '../../model/manifest/refuse-unsupported.ts';
import { settleIdentity, uidOf, type ManifestOrigin } from '../../model/manifest/settle-identity.ts';
import { validatePod } from '../../model/manifest/validate-pod.ts';
import type { Pod } from '../../model/pod.ts';
import { checkShape } from '../../model/schema/check-shape.ts';
import { formatFieldPath, type FieldPath, type FieldProblem } from '../../model/schema/field-path.ts';
import { POD_SCHEMA } from '../../model/schema/pod-schema.ts';
import { settleShape } from '../../model/schema/settle-shape.ts';
import { readYaml, type YamlDocument } from '../yaml/read-yaml.ts';
import { podsOfDocument, type PodEntry } from './pods-of-document.ts';

export interface DecodedManifest {
  readonly pods: readonly Pod[];
  /** Where each of the pods stands, in the same order. */
  readonly positions: readonly Position[];
  readonly problems: readonly Problem[];
}

export interface DecodeOptions extends ManifestOrigin {
  /** Whether fields that rxlet cannot act on yet are let through. Only for comparisons with the kubelet. */
  readonly allowUnsupported?: boolean;
}

/**
 * Pods and problems of one manifest: any number of YAML or JSON documents, each a Pod, a PodList or a List of Pods.
 * Every pod is defaulted, settled and valid; one that is not becomes problems with their positions and takes no other
 * pod with it. A file without any document holds no pods, which is no problem.
 */
export function decodeManifest(text: string, options: DecodeOptions): DecodedManifest {
  const { documents, problems: unreadable } = readYaml(text);
  const pods: Pod[] = [];
  const positions: Position[] = [];
  const problems: Problem[] = unreadable.map(({ position, path, message }) =>
    problemOf(options, { position, path: path ?? [], message }),
  );

  for (const document of documents) {
    const { entries, problems: strange } = podsOfDocument(document.value);
    problems.push(...firstOf(strange).map((problem) => problemOf(options, located(problem, [], document))));
    for (const entry of entries) {
      const { pod, problems: mistakes } = decodePod(entry.value, options);
      if (pod) {
        pods.push(pod);
        positions.push(document.locate(entry.path));
      }
      const name = nameOf(entry, options);
      for (const mistake of firstOf(mistakes))
        problems.push(problemOf(options, located(mistake, entry.path, document), name));
    }
  }
  return { pods, positions, problems: problems.toSorted(byPosition) };
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

function decodePod(
  value: unknown,
  options: DecodeOptions,
): { readonly pod?: Pod; readonly problems: readonly FieldProblem[] } {
  const misshapen = checkShape(POD_SCHEMA, 'Pod', value);
  if (misshapen.length > 0) return { problems: misshapen };

  const decoded = settleShape(POD_SCHEMA, 'Pod', value) as PodDraft;
  if (!decoded.metadata?.name) return { problems: [{ path: ['metadata', 'name'], message: 'is required' }] };

  const settled = settleIdentity(applyDefaults(decoded), uidOf(decoded, options), options);
  const problems = [
    ...validatePod(settled),
    ...refuseReferences(settled),
    ...(options.allowUnsupported ? [] : refuseUnsupported(decoded)),
  ];
  // Validation has made sure of every field that a Pod must have.
  return problems.length > 0 ? { problems: onePerField(problems) } : { pod: settled as unknown as Pod, problems };
}

/** What is wrong with a field need not be told twice. */
function onePerField(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  return [
    ...new Map(problems.map((problem) => [formatFieldPath(problem.path), problem] as const).reverse()).values(),
  ].reverse();
}

interface Located extends FieldProblem {
  readonly position: Position;
}

function located({ path, message }: FieldProblem, prefix: FieldPath, document: YamlDocument): Located {
  return { path, message, position: document.locate([...prefix, ...path]) };
}

function problemOf({ source, origin }: ManifestOrigin, { position, path, message }: Located, pod?: string): Problem {
  return {
    source,
    origin,
    position,
    ...(path.length > 0 && { field: formatFieldPath(path) }),
    ...(pod !== undefined && { pod }),
    message,
  };
}

function nameOf({ name, namespace }: PodEntry, { nodeName }: ManifestOrigin): string | undefined {
  return name === undefined ? undefined : `${namespace ?? 'default'}/${name}-${nodeName.toLowerCase()}`;
}
