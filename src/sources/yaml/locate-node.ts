import { isAlias, isMap, isScalar, isSeq, visit, type Node } from 'yaml';
import type { FieldPath } from '../../model/schema/field-path.ts';
import { isMergeKey, keyName } from './plain-value.ts';

/** Offset in the text of the field at a path, or of its nearest parent that is there. */
export function locateNode(root: Node | null, path: FieldPath): number {
  let node: unknown = root;
  let offset = offsetOf(root) ?? 0;
  for (const step of path) {
    const found = stepInto(root, node, step);
    if (!found) return offset;
    node = found.value;
    offset = offsetOf(found.at) ?? offset;
  }
  return offset;
}

interface Found {
  readonly at: unknown;
  readonly value: unknown;
}

function stepInto(root: Node | null, parent: unknown, step: string | number): Found | undefined {
  const node = isAlias(parent) ? anchored(root, parent.source) : parent;
  if (isSeq(node)) {
    const item = typeof step === 'number' ? node.items[step] : undefined;
    return item === undefined ? undefined : { at: item, value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => keyName(key) === String(step) && !isMergeKey(key));
  if (pair) return { at: pair.key, value: pair.value };
  for (const { key, value } of node.items) {
    const sources = isMergeKey(key) ? (isSeq(value) ? value.items : [value]) : [];
    for (const source of sources) {
      const found = stepInto(root, source, step);
      if (found) return found;
    }
  }
  return undefined;
}

/** The last node of that anchor: good enough to point at, for anchors that are given twice. */
function anchored(root: Node | null, anchor: string): Node | undefined {
  let found: Node | undefined;
  visit(root, {
    Node: (_key, node) => {
      if (!isAlias(node) && node.anchor === anchor) found = node;
    },
  });
  return found;
}

function offsetOf(node: unknown): number | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range?.[0] : undefined;
}
