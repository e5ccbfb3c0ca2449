import { isAlias, isMap, isScalar, isSeq, Scalar, type Alias, type Node, type YAMLMap } from 'yaml';
import type { FieldPath } from '../../model/schema/field-path.ts';
import { MOST_LEVELS } from './token-limit.ts';

export interface NodeProblem {
  readonly offset: number;
  readonly path: FieldPath;
  readonly message: string;
}

/** Turns the nodes of a document into plain data, following aliases and merge keys; keys given twice are problems. */
export function plainValue(root: Node | null): { readonly value: unknown; readonly problems: readonly NodeProblem[] } {
  const anchors = new Map<string, Node>();
  const openAliases = new Set<Node>();
  const problems: NodeProblem[] = [];
  let copied = 0;
  let aliasDepth = 0;
  let isTooDeep = false;

  return { value: convert(root, []), problems };

  function convert(node: unknown, path: FieldPath): unknown {
    if (aliasDepth > 0) copied += 1;
    if (copied === MOST_COPIES) fail(node, path, `aliases repeat more than ${MOST_COPIES} values`);
    if (copied >= MOST_COPIES || isTooDeep) return null;
    // Aliases may repeat in each other what is not too deep by itself.
    isTooDeep = path.length > MOST_LEVELS;
    if (isTooDeep) {
      fail(root, [], 'the document is nested too deeply');
      return null;
    }
    if (isAlias(node)) return convertAlias(node, path);
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isMap(node)) return convertMap(node, path);
    if (isSeq(node)) return node.items.map((item, index) => convert(item, [...path, index]));
    return isScalar(node) ? node.value : null;
  }

  function convertAlias(alias: Alias, path: FieldPath): unknown {
    const target = anchors.get(alias.source);
    if (!target || openAliases.has(target)) {
      fail(alias, path, target ? `*${alias.source} contains itself` : `no &${alias.source} stands before this`);
      return null;
    }
    openAliases.add(target);
    aliasDepth += 1;
    const value = convert(target, path);
    aliasDepth -= 1;
    openAliases.delete(target);
    return value;
  }

  function convertMap(map: YAMLMap, path: FieldPath): Readonly<Record<string, unknown>> {
    if (map.anchor !== undefined) openAliases.add(map);
    const own = new Map<string, unknown>();
    const merged = new Map<string, unknown>();
    for (const { key, value } of map.items) {
      if (isMergeKey(key)) {
        for (const [name, item] of mergedEntries(value, path)) if (!merged.has(name)) merged.set(name, item);
        continue;
      }
      const name = keyName(key);
      if (name === undefined) fail(key, path, 'a key must be a string, a number or a boolean');
      else if (own.has(name)) fail(key, [...path, name], 'is given twice');
      else own.set(name, convert(value, [...path, name]));
    }
    openAliases.delete(map);
    return Object.fromEntries([...own, ...[...merged].filter(([name]) => !own.has(name))]);
  }

  function mergedEntries(value: unknown, path: FieldPath): readonly (readonly [string, unknown])[] {
    const sources = isSeq(value) ? value.items : [value];
    return sources.flatMap((source) => {
      const target = isAlias(source) ? anchors.get(source.source) : source;
      if (isMap(target)) return Object.entries(convert(source, path) ?? {});
      fail(source, path, 'what << merges must be a map');
      return [];
    });
  }

  function fail(node: unknown, path: FieldPath, message: string): void {
    problems.push({ offset: offsetOf(node), path, message });
  }
}

/** A key of a map as Kubernetes names it: YAML 1.1's `on: 1` has the key `true`. */
export function keyName(key: unknown): string | undefined {
  const value: unknown = isScalar(key) ? key.value : undefined;
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && key.value === '<<';
}

/** Far more than any manifest repeats; a bomb makes billions. */
const MOST_COPIES = 100_000;

function offsetOf(node: unknown): number {
  return isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}
