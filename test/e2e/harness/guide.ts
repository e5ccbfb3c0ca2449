/** One thing that a reader of a guide does. */
export type GuideStep =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  /** What is printed is told; nothing where the guide tells nothing. */
  | { readonly kind: 'command'; readonly command: string; readonly output: readonly string[] }
  /** A command that goes on in a terminal of its own. */
  | { readonly kind: 'background'; readonly command: string };

export interface GuidePart {
  /** The heading, without its marks. */
  readonly title: string;
  readonly steps: readonly GuideStep[];
}

/**
 * Takes a guide apart: one part per heading of the second level. A block of `yaml` or `json` is a file, whose path is the
 * last one told in backticks before it; in a block of `console` each line that begins with `# ` is a command, and what
 * follows is its output; a block of `sh` holds commands that end silently, but `rxlet run`, which does not end. Throws on
 * any other block: each is to be followed.
 */
export function readGuide(markdown: string): readonly GuidePart[] {
  const [, ...parts] = markdown.split(/^## /m);
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n');
    return { title, steps: [...lines.join('\n').matchAll(BLOCK)].flatMap((found) => stepsOf(found, part)) };
  });
}

const BLOCK = /^```(\w*)\n([\s\S]*?)^```$/gm;

function stepsOf([block = '', language = '', text = '']: RegExpMatchArray, part: string): readonly GuideStep[] {
  switch (language) {
    case 'yaml':
    case 'json':
      return [{ kind: 'file', path: pathBefore(part.slice(0, part.indexOf(block))), text }];
    case 'console':
      return text
        .split(/^# /m)
        .slice(1)
        .map((told) => {
          const [command = '', ...output] = told.trimEnd().split('\n');
          return { kind: 'command', command, output };
        });
    case 'sh':
      return text
        .trimEnd()
        .split('\n')
        .map((command) =>
          command.startsWith('rxlet run ') ? { kind: 'background', command } : { kind: 'command', command, output: [] },
        );
    default:
      throw new Error(`nobody knows how to follow this block:\n${block}`);
  }
}

function pathBefore(text: string): string {
  const path = [...text.matchAll(/`(\/[^`\s]+)`/g)].at(-1)?.[1];
  if (path === undefined) throw new Error(`a file without a path, after:\n${text.slice(-200)}`);
  return path;
}

/** Whether an output is the one told, but for times, addresses and the width of columns. */
export function isAsTold(output: string, told: readonly string[]): boolean {
  return withoutChance(output) === withoutChance(told.join('\n'));
}

function withoutChance(text: string): string {
  return text
    .replace(/\b\d+(?:s|m|h)(?:\d+s)?(?= |$)/gm, 'AGE')
    .replace(/\b10\.88\.\d+\.\d+\b/g, 'IP')
    .replace(/[ \t]+/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}
