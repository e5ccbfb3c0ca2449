import { Lexer } from 'yaml';

/** Words, signs, line ends and comments: some ten thousand lines of an ordinary manifest, or a quarter of a second of work. */
export const MOST_TOKENS = 100_000;

/** Levels of maps and lists in each other; a pod has no more than twenty. */
export const MOST_LEVELS = 100;

export interface TokenCount {
  readonly tokens: number;
  /** Where a limit was passed, and which: the count ended there. */
  readonly beyond?: { readonly offset: number; readonly limit: 'tokens' | 'levels' };
}

/**
 * Counts the tokens of a text, at most so many, before anything else is done with it. Every token costs its parser some
 * microseconds and a kilobyte, so a few MiB made of nothing but brackets would hold the agent up for a minute and fill
 * its memory; and one that descends by calling itself dies with the whole process where the levels are too many (a
 * regular expression compiled at the very end of the stack is fatal to V8). Plain size is no measure, as one long
 * comment or string costs next to nothing.
 */
export function countTokens(text: string, most: number): TokenCount {
  let tokens = 0;
  let offset = 0;
  let lineStart = 0;
  let brackets = 0;
  /** Columns at which block maps and lists stand open. */
  const open: number[] = [];
  /** Whether what comes next may begin a map or a list of its own. */
  let isAtStart = true;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > most) return { tokens, beyond: { offset, limit: 'tokens' } };
    if (MARKS.has(token)) continue;
    if (token === '[' || token === '{') brackets += 1;
    if ((token === ']' || token === '}') && brackets > 0) brackets -= 1;
    if (isAtStart && brackets === 0 && !BLANK.test(token)) {
      const column = offset - lineStart;
      while ((open.at(-1) ?? -1) >= column) open.pop();
      open.push(column);
    }
    if (open.length + brackets > MOST_LEVELS) return { tokens, beyond: { offset, limit: 'levels' } };
    isAtStart = INDICATORS.has(token) || token.endsWith('\n') || (isAtStart && BLANK.test(token));
    offset += token.length;
    const lineEnd = token.lastIndexOf('\n');
    if (lineEnd >= 0) lineStart = offset - token.length + lineEnd + 1;
  }
  return { tokens };
}

/**
 * Whether a text is seen to be below both limits without being taken apart: it has fewer letters than tokens are
 * allowed, and no line so long that it and all brackets could descend too far, as every level needs a column of its own
 * or a bracket.
 */
export function isPlain(text: string): boolean {
  if (text.length >= MOST_TOKENS) return false;
  const most = MOST_LEVELS - (text.match(/[[{]/g)?.length ?? 0);
  return text.split('\n').every(({ length }) => length < most);
}

/** What the lexer says beside the text: where a document or a scalar begins, and that a bracket was left open. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);
const INDICATORS: ReadonlySet<string> = new Set(['-', '?', ':']);
const BLANK = /^(?:\s*|#.*)$/;
