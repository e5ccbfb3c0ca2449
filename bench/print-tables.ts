import type { Table } from './tables.ts';

/** For a terminal. */
export function plainTables(tables: readonly Table[]): string {
  return tables
    .map(({ title, head, rows }) => {
      const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
      const line = (row: readonly string[]): string =>
        row
          .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
          .join('  ')
          .trimEnd();
      return [title, line(head), ...rows.map(line)].join('\n');
    })
    .join('\n\n');
}

export function markdownTables(tables: readonly Table[]): string {
  return tables
    .map(({ title, head, rows }) => {
      const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
      const rule = `| --- |${' ---: |'.repeat(head.length - 1)}`;
      return [`**${title}**`, '', line(head), rule, ...rows.map(line)].join('\n');
    })
    .join('\n\n');
}
