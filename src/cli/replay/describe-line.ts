import { messageOf } from '../../model/errors.ts';
import type { TimedLine } from '../recording/line.ts';

/** Characters of a value that are shown. */
const SHOWN = 160;

/** What a line says, for people; `undefined` where it says nothing by itself. */
export function describeLine(line: TimedLine, read: (written: unknown) => unknown): string | undefined {
  switch (line.k) {
    case 'page':
      return `heard ${describeEvent(read(line.event) as Heard)}`;
    case 'begin':
      return `${line.work} of ${line.pod} begins`;
    case 'report':
      return `told ${short(read(line.report))}`;
    case 'cut':
      return 'the work is cut short';
    case 'call':
      return `called ${line.to} ${short(read(line.args))}`;
    case 'answer':
      return line.value === undefined ? undefined : `was answered ${short(read(line.value))}`;
    case 'error':
      return `was answered with an error: ${messageOf(read(line.error))}`;
    case 'probe':
      return `${line.probe} probe of ${line.container}: ${line.error === undefined ? short(read(line.answer)) : messageOf(read(line.error))}`;
    case 'clock':
      return 'a clock was set';
    case 'look':
    case 'seen':
    case 'blind':
    case 'unseen':
    case 'end':
    case 'done':
    case 'dropped':
    case 'wants':
      return undefined;
  }
}

interface Heard {
  readonly kind: string;
  readonly uid?: string;
  readonly container?: string;
  readonly changes?: readonly { readonly op: string; readonly pod: { readonly metadata: { readonly name: string } } }[];
}

function describeEvent({ kind, uid, container, changes }: Heard): string {
  if (changes) return changes.map(({ op, pod }) => `${op} ${pod.metadata.name}`).join(', ');
  return [kind, container, uid].filter((part) => part !== undefined).join(' ');
}

function stringify(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    part instanceof Map ? (Object.fromEntries(part) as unknown) : part,
  );
}

function short(value: unknown): string {
  const text = stringify(value) ?? '';
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
