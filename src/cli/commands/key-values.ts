/** A block of text as `kubectl describe` prints it: keys at the left, values aligned, nested blocks indented. */
export type Block = readonly (Row | undefined)[];

/** A key with its value, its lines, or a block of its own. */
export type Row = readonly [key: string, value: string | readonly string[] | { readonly block: Block }];

/** `block` as lines; what is `undefined` in it is left out. Values of one block are aligned. */
export function renderBlock(block: Block, indent = ''): readonly string[] {
  const rows = block.filter((row) => row !== undefined);
  const plain = rows.filter(([, value]) => typeof value === 'string' || Array.isArray(value));
  const width = Math.max(0, ...plain.map(([key]) => key.length)) + 1;
  return rows.flatMap(([key, value]) => {
    if (typeof value === 'string') return [`${indent}${`${key}:`.padEnd(width)}  ${value}`.trimEnd()];
    if ('block' in value) return [`${indent}${key}:`, ...renderBlock(value.block, `${indent}  `)];
    return value.length === 0
      ? [`${indent}${`${key}:`.padEnd(width)}  <none>`]
      : value.map((line, index) => `${indent}${(index === 0 ? `${key}:` : '').padEnd(width)}  ${line}`);
  });
}
