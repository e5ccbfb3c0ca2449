/**
 * Reads a file of variables: `NAME='value'` on lines of their own, blank lines, and comments behind `#` (KEP-3721).
 * Between the quotes everything stands for itself, line breaks too. `undefined` for a text that is anything else, so
 * that a container never starts with half of its settings.
 */
export function parseEnvFile(text: string): ReadonlyMap<string, string> | undefined {
  const variables = new Map<string, string>();
  let rest = text;
  while (rest !== '') {
    const [entry = '', name, value = ''] = DECLARATION.exec(rest) ?? NOTHING.exec(rest) ?? [];
    if (entry === '') return undefined;
    // The first one of a name counts, as for a reader that stops where it has found it.
    if (name !== undefined && !variables.has(name)) variables.set(name, value);
    rest = rest.slice(entry.length);
  }
  return variables;
}

const DECLARATION = /^[ \t]*([^\s='#]+)[ \t]*=[ \t]*'([^']*)'[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/;
const NOTHING = /^[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/;
