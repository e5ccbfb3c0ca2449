import ts from 'typescript';

/**
 * The titles of the tests in a file: what `it`, `test` and `describe` are called with, and of a table the words that
 * each row puts into it. A title that is put together has its parts as they are written, `${name}`.
 */
export function titlesOf(text: string): ReadonlySet<string> {
  const file = ts.createSourceFile('a.test.ts', text, ts.ScriptTarget.Latest, true);
  const constants = new Map<string, ts.Expression>();
  const titles = new Set<string>();

  function visit(node: ts.Node, look: (node: ts.Node) => void): void {
    look(node);
    ts.forEachChild(node, (child) => {
      visit(child, look);
    });
  }

  function rowsOf(table: ts.Expression | undefined): readonly ts.Expression[] {
    if (table === undefined) return [];
    if (ts.isIdentifier(table)) return rowsOf(constants.get(table.text));
    if (ts.isAsExpression(table)) return rowsOf(table.expression);
    if (ts.isArrayLiteralExpression(table)) {
      return table.elements.flatMap((row) => (ts.isSpreadElement(row) ? rowsOf(row.expression) : [row]));
    }
    return ts.isCallExpression(table) ? resultOf(table.arguments[0]) : [];
  }

  visit(file, (node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, node.initializer);
  });
  visit(file, (node) => {
    if (!ts.isCallExpression(node)) return;
    const { name, table } = calleeOf(node.expression);
    const title = TEST.has(name) ? words(node.arguments[0]) : undefined;
    if (title === undefined) return;
    titles.add(title);
    for (const row of rowsOf(table)) {
      const filled = words(partOf(row, title));
      if (filled !== undefined) titles.add(filled);
    }
  });
  return titles;
}

const TEST: ReadonlySet<string> = new Set(['it', 'test', 'describe']);

/** `it.each(table)('title')` calls `it`, with a table. */
function calleeOf(called: ts.Expression): { readonly name: string; readonly table?: ts.Expression | undefined } {
  if (ts.isIdentifier(called)) return { name: called.text };
  if (ts.isPropertyAccessExpression(called)) return calleeOf(called.expression);
  if (!ts.isCallExpression(called)) return { name: '' };
  const { expression } = called;
  const isEach = ts.isPropertyAccessExpression(expression) && expression.name.text === 'each';
  return { ...calleeOf(expression), ...(isEach ? { table: called.arguments[0] } : {}) };
}

/** The row that a function makes of each of several things. */
function resultOf(made: ts.Expression | undefined): readonly ts.Expression[] {
  if (!made || !ts.isArrowFunction(made) || ts.isBlock(made.body)) return [];
  return [ts.isParenthesizedExpression(made.body) ? made.body.expression : made.body];
}

/** What of a row stands in the title: the first of it for `%s`, a property for `$name`. */
function partOf(row: ts.Expression, title: string): ts.Expression | undefined {
  if (/%[sj]/.test(title)) return ts.isArrayLiteralExpression(row) ? row.elements[0] : row;
  const named = /^\$(\w+)$/.exec(title)?.[1];
  if (named === undefined || !ts.isObjectLiteralExpression(row)) return undefined;
  return row.properties.filter(ts.isPropertyAssignment).find(({ name }) => ts.isIdentifier(name) && name.text === named)
    ?.initializer;
}

function words(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.getText().slice(1, -1) : undefined;
}
