import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import type { Position } from '../../model/desired.ts';
import type { FieldPath } from '../../model/schema/field-path.ts';
import { locateNode } from './locate-node.ts';
import { plainValue } from './plain-value.ts';
import { splitDocuments } from './split-documents.ts';
import { KUBERNETES_SCALARS } from './scalars.ts';
import { countTokens, isPlain, MOST_TOKENS, type TokenCount } from './token-limit.ts';

/** One document of a file that could be read. */
export interface YamlDocument {
  /** Plain JSON data, except that whole numbers beyond 2^53 are `bigint`. */
  readonly value: unknown;
  /** Where the document begins. */
  readonly position: Position;
  /** Where a field stands: its name in a map, its value in a list; its nearest parent where it is missing. */
  readonly locate: (path: FieldPath) => Position;
}

/** Why a document could not be read. */
interface YamlProblem {
  readonly position: Position;
  readonly path?: FieldPath;
  readonly message: string;
}

export interface YamlReading {
  /** The readable documents in order; empty ones are left out. */
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly YamlProblem[];
}

/**
 * Reads YAML or JSON as Kubernetes does (see `KUBERNETES_SCALARS`), and stricter: a key given twice is a problem.
 * A document with a problem is left out, those beside it are not. Never throws.
 */
export function readYaml(text: string): YamlReading {
  const control = CONTROL_CHARACTER.exec(text);
  if (control) return refusal(text, control.index, 'a control character may not stand here');

  const documents: YamlDocument[] = [];
  const problems: YamlProblem[] = [];
  let left = MOST_TOKENS;
  const isShort = text.length < MOST_TOKENS;
  for (const { text: part, line } of splitDocuments(withoutJsonTabs(text))) {
    const { tokens, beyond } = isShort && isPlain(part) ? PLAIN : countTokens(part, left);
    if (beyond?.limit === 'tokens')
      return refusal(part, beyond.offset, `the file holds more than ${MOST_TOKENS} words and signs`, line);
    left -= tokens;
    const reading = beyond ? refusal(part, beyond.offset, TOO_DEEP, line) : readPart(part, line);
    documents.push(...reading.documents);
    problems.push(...reading.problems);
  }
  return { documents, problems };
}

const PLAIN: TokenCount = { tokens: 0 };

function refusal(text: string, offset: number, message: string, linesBefore = 0): YamlReading {
  const before = text.slice(0, offset).split('\n');
  const position = { line: linesBefore + before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return { documents: [], problems: [{ position, message }] };
}

/** Reads a part of the text that begins `linesBefore` lines after the first. */
function readPart(text: string, linesBefore: number): YamlReading {
  const lines = new LineCounter();
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: line + linesBefore, column: col };
  };

  const isSecret = SECRET.test(text);
  const documents: YamlDocument[] = [];
  const problems: YamlProblem[] = [];
  for (const document of parse(text, lines)) {
    if (document instanceof Error) {
      problems.push({ position: positionOf(0), message: document.message });
      continue;
    }
    const mistakes = [...document.errors, ...document.warnings].slice(0, MOST_MISTAKES);
    const { value, problems: bad } = mistakes.length > 0 ? NOTHING : plainValue(document.contents);
    problems.push(
      ...mistakes.map(({ pos, code, message }) => ({
        position: positionOf(pos[0]),
        message: isSecret ? `is no valid YAML (${code})` : plainly(message),
      })),
      ...bad.slice(0, MOST_MISTAKES).map(({ offset, path, message }) => ({
        position: positionOf(offset),
        ...(isSecret ? { message: 'is no valid YAML' } : { path, message }),
      })),
    );
    if (mistakes.length > 0 || bad.length > 0 || value === null) continue;
    documents.push({
      value,
      position: positionOf(document.contents?.range[0] ?? 0),
      locate: (path) => positionOf(locateNode(document.contents, path)),
    });
  }
  return { documents, problems };
}

const NOTHING = { value: null, problems: [] };

/** One slip often brings many complaints; the first ones tell. */
const MOST_MISTAKES = 5;

/** What is wrong with the text of a Secret must not be told with words of it: they can be the secret. */
const SECRET = /kind\W{1,20}Secret/i;

/** What YAML does not allow anywhere, and what a file of rubbish is full of. */
const CONTROL_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

function plainly(message: string): string {
  return message.startsWith('Maximum call stack') ? TOO_DEEP : message;
}

function parse(text: string, lineCounter: LineCounter): readonly (Document.Parsed | Error)[] {
  const { stackTraceLimit } = Error;
  // Rubbish makes ten thousands of errors of which nobody sees the stack; to take it costs most of the time.
  Error.stackTraceLimit = 0;
  try {
    const documents = parseAllDocuments(text, {
      schema: 'failsafe',
      customTags: KUBERNETES_SCALARS,
      resolveKnownTags: false,
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter,
    });
    return Array.isArray(documents) ? documents : [];
  } catch (error) {
    return [new Error(error instanceof RangeError ? TOO_DEEP : String(error))];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const TOO_DEEP = 'the document is nested too deeply';

/** JSON may be indented with tabs; YAML may not. A raw tab is never part of a JSON string, so positions stay right. */
function withoutJsonTabs(text: string): string {
  return /^\uFEFF?\s*[{[]/.test(text) ? text.replaceAll('\t', ' ') : text;
}
