import type { ContainerConfig } from '../model/cri/api.ts';
import type { ProcessScript } from './process-script.ts';

/** How a command ends that does nothing but wait, print and end. */
interface Course {
  /** Milliseconds from its start; absent where it does not end by itself. */
  readonly after?: number;
  readonly code: number;
  readonly prints: NonNullable<ProcessScript['prints']>;
}

/**
 * What a container does by its command alone. Understood are `sleep`, `exit`, `true`, `false`, `echo` and `sh -c` with
 * these alone, joined by `;`, `&&` and new lines, without variables, substitutions and redirections. Everything else
 * runs until it is stopped, and so does what is left to the image; a command that is run beside it succeeds silently.
 */
export function commandScript({ command = [], args = [] }: ContainerConfig): ProcessScript {
  const exec: NonNullable<ProcessScript['exec']> = (words) => {
    const { after, code, prints } = courseOf(words) ?? { after: 0, code: 0, prints: [] };
    return { exitCode: code, stdout: prints.map(({ text }) => `${text}\n`).join(''), after: after ?? 0 };
  };
  const course = command.length > 0 ? courseOf([...command, ...args]) : undefined;
  if (!course) return { exec };
  const { after, code, prints } = course;
  return { exec, prints, ...(after === undefined ? {} : { exits: { after, code } }) };
}

function courseOf(words: readonly string[]): Course | undefined {
  const [program = '', option, text = ''] = words;
  const isShell = /^(?:\/bin\/)?(?:ba)?sh$/.test(program) && /^-e?c$/.test(option ?? '');
  return isShell ? follow(text, option === '-ec') : followWords([words]);
}

/** Undefined where something in it is not understood. */
function follow(text: string, endsAtFailure: boolean): Course | undefined {
  const lines = text.split(/(&&|[;\n])/);
  const statements: Statement[] = [];
  for (let i = 0; i < lines.length; i += 2) {
    const words = wordsOf((lines[i] ?? '').trim());
    if (!words) return undefined;
    if (words.length > 0) statements.push({ words, needsSuccess: lines[i - 1] === '&&' });
  }
  return followAll(statements, endsAtFailure);
}

function followWords(all: readonly (readonly string[])[]): Course | undefined {
  return followAll(
    all.map((words) => ({ words, needsSuccess: false })),
    false,
  );
}

interface Statement {
  readonly words: readonly string[];
  /** It follows `&&`. */
  readonly needsSuccess: boolean;
}

function followAll(statements: readonly Statement[], endsAtFailure: boolean): Course | undefined {
  const prints: { readonly after: number; readonly text: string }[] = [];
  const steps = statements.map(({ words }) => stepOf(words));
  if (steps.includes(undefined)) return undefined;
  let after = 0;
  let code = 0;
  for (const [index, step] of steps.entries()) {
    if (statements[index]?.needsSuccess && code !== 0) continue;
    if (!step) return undefined;
    if (step.print !== undefined) prints.push({ after, text: step.print });
    if (step.wait === Infinity) return { code: 0, prints };
    after += step.wait ?? 0;
    if (step.ends) return { after, code: step.code ?? code, prints };
    code = step.code ?? 0;
    const isTested = statements[index + 1]?.needsSuccess === true;
    if (endsAtFailure && code !== 0 && !isTested) break;
  }
  return { after, code, prints };
}

interface Step {
  /** Milliseconds. */
  readonly wait?: number;
  readonly code?: number;
  readonly ends?: boolean;
  readonly print?: string;
}

function stepOf([program = '', ...rest]: readonly string[]): Step | undefined {
  const [first] = rest;
  switch (program) {
    case 'exec':
      return rest.length === 0 ? undefined : endingOf(stepOf(rest));
    case 'true':
    case ':':
      return { code: 0 };
    case 'false':
      return { code: 1 };
    case 'echo':
      return first?.startsWith('-') ? undefined : { print: rest.join(' ') };
    case 'exit':
      if (rest.length > 1 || !/^\d{0,3}$/.test(first ?? '')) return undefined;
      return first === undefined ? { ends: true } : { ends: true, code: Number(first) % 256 };
    case 'sleep':
    case '/bin/sleep':
      return rest.length === 1 ? waitOf(first ?? '') : undefined;
    default:
      return undefined;
  }
}

function endingOf(step: Step | undefined): Step | undefined {
  return step && { code: 0, ...step, ends: true };
}

function waitOf(text: string): Step | undefined {
  if (text === 'infinity' || text === 'inf') return { wait: Infinity };
  const [, digits, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  const seconds = SECONDS[unit === '' ? 's' : unit];
  if (digits === undefined || seconds === undefined) return undefined;
  // Longer ones than a timer can hold, 24 days, last as long as the container.
  const wait = Number(digits) * seconds * 1_000;
  return { wait: wait < 2 ** 31 ? wait : Infinity };
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The words of one simple command, quotes taken off; undefined where a shell would do more with it than to split it. */
function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = [];
  for (let rest = text; rest !== '';) {
    const match = WORD.exec(rest);
    if (!match) return undefined;
    words.push(match[1] ?? match[2] ?? match[3] ?? '');
    rest = rest.slice(match[0].length);
  }
  return words;
}

const WORD = /^(?:"([^"$`\\!]*)"|'([^']*)'|([\w.,:/+@%=-]+))(?:\s+|$)/;
