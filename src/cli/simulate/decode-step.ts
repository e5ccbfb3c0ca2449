import { basename } from 'node:path';
import type { RuntimeErrorKind } from '../../model/errors.ts';
import { FAULT_KINDS, type Fault } from '../../simulation/faults.ts';
import { CALL_NAMES } from '../../simulation/latencies.ts';
import { codeOf, whoseOf } from './decode-container-rule.ts';
import type { Act, FaultRule, Whose } from './script.ts';
import { strange, type Fields } from './script-reader.ts';

/** Gets the text of a file that a script names. */
export type ReadText = (file: string) => { readonly text: string } | { readonly unreadable: string };

/** What happens at one step: exactly one thing. `undefined` where the step does not say it. */
export function decodeStep(step: Fields, read: ReadText): Act | undefined {
  const [name, second] = step.names.filter((one) => one !== 'at');
  if (name === undefined) {
    step.report(step.path, `must say what happens: one of ${Object.keys(ACTS).join(', ')}`);
    return undefined;
  }
  if (second !== undefined) {
    step.report([...step.path, second], `a step does one thing, and this one does ${name} already`);
    return undefined;
  }
  const fields = step.part(name);
  return fields && ACTS[name]?.(fields, read);
}

const ACTS: Readonly<Record<string, (fields: Fields, read: ReadText) => Act | undefined>> = {
  addManifest: (fields, read) => {
    const file = fields.needText('file');
    if (file === '') return undefined;
    const found = read(file);
    if ('text' in found)
      return { do: 'addManifest', file, as: fields.text('as') ?? basename(file), content: found.text };
    fields.report([...fields.path, 'file'], found.unreadable);
    return undefined;
  },
  editManifest: (fields) => ({
    do: 'editManifest',
    file: fields.needText('file'),
    replace: fields.needText('replace'),
    with: fields.text('with') ?? '',
  }),
  removeManifest: (fields) => ({ do: 'removeManifest', file: fields.needText('file') }),
  killContainer: (fields) => ({ do: 'exitContainer', code: KILLED, ...someones(fields) }),
  exitContainer: (fields) => {
    const reason = fields.text('reason');
    const code = codeOf(fields, 'code');
    return { do: 'exitContainer', code, ...(reason === undefined ? {} : { reason }), ...someones(fields) };
  },
  killSandbox: (fields) => ({ do: 'killSandbox', ...someones(fields) }),
  stopPod: (fields) => ({ do: 'commandPod', verb: 'stop', ...someones(fields) }),
  startPod: (fields) => ({ do: 'commandPod', verb: 'start', ...someones(fields) }),
  restartPod: (fields) => ({ do: 'commandPod', verb: 'restart', ...someones(fields) }),
  fillVolume: (fields) => {
    const size = fields.quantity('size');
    if (size === undefined) fields.report([...fields.path, 'size'], 'must be given, for example 10Mi');
    else if (size > LARGEST) fields.report([...fields.path, 'size'], 'must be at most 64Mi: it is kept in memory');
    return { do: 'fillVolume', volume: fields.needText('volume'), size: size ?? 0, ...someones(fields) };
  },
  fault: (fields) => faultOf(fields),
  restartRuntime: (fields) => ({
    do: 'restartRuntime',
    for: fields.duration('for') ?? 0,
    loseSandboxes: fields.flag('loseSandboxes') ?? false,
  }),
  reboot: () => ({ do: 'reboot' }),
  cutEvents: () => ({ do: 'cutEvents' }),
  crashAgent: (fields) => ({ do: 'crashAgent', for: fields.duration('for') ?? 0 }),
  diskFull: (fields) => ({ do: 'disk', state: 'full', ...lasting(fields) }),
  diskReadOnly: (fields) => ({ do: 'disk', state: 'readOnly', ...lasting(fields) }),
  networkDown: (fields) => ({ do: 'networkDown', ...lasting(fields) }),
  setClock: (fields) => ({ do: 'setClock', by: fields.needDuration('by', { mayBeNegative: true }) }),
};

/** 128 + SIGKILL. */
const KILLED = 137;

/** Bytes. */
const LARGEST = 64 * 2 ** 20;

/** There is always somebody in particular meant. */
function someones(fields: Fields): Whose {
  fields.needText('pod');
  return whoseOf(fields);
}

function lasting(fields: Fields): { readonly for?: number } {
  const lasts = fields.duration('for');
  return lasts === undefined ? {} : { for: lasts };
}

function faultOf(fields: Fields): ({ readonly do: 'fault' } & FaultRule) | undefined {
  const calls = fields.texts('calls') ?? [];
  calls.forEach((call, index) => {
    if (!CALL_NAMES.includes(call)) fields.report([...fields.path, 'calls', index], strange(call, CALL_NAMES));
  });
  const times = fields.number('times');
  const share = fields.number('share') ?? 1;
  if (times !== undefined && times < 1) fields.report([...fields.path, 'times'], 'must be at least 1');
  if (!(share > 0 && share <= 1)) fields.report([...fields.path, 'share'], 'must be above 0 and at most 1');
  const fault = whatGoesWrong(fields);
  const { pod, namespace } = whoseOf(fields);
  return (
    fault && {
      do: 'fault',
      calls,
      fault,
      share,
      ...(times === undefined ? {} : { times }),
      ...lasting(fields),
      ...(pod === undefined ? {} : { pod }),
      ...(namespace === undefined ? {} : { namespace }),
    }
  );
}

function whatGoesWrong(fields: Fields): Fault | undefined {
  if (fields.needText('kind') === '') return undefined;
  const kind = fields.oneOf('kind', FAULT_KINDS);
  const error = fields.text('error');
  switch (kind) {
    case 'fail': {
      const [code, message] = [fields.text('code'), fields.text('message')];
      return {
        kind,
        ...(error === undefined ? {} : { error: fields.oneOf('error', ERRORS) ?? 'refused' }),
        ...(code === undefined ? {} : { code }),
        ...(message === undefined ? {} : { message }),
      };
    }
    case 'slow':
    case 'late':
    case 'linger':
      return { kind, by: fields.needDuration('by') };
    case 'loseAnswer':
      return error === undefined
        ? { kind }
        : { kind, error: fields.oneOf('error', ['unavailable', 'deadline']) ?? 'unavailable' };
    case 'hang':
      return { kind };
    case undefined:
      return undefined;
  }
}

const ERRORS: readonly RuntimeErrorKind[] = [
  'unavailable',
  'deadline',
  'notFound',
  'alreadyExists',
  'unimplemented',
  'cancelled',
  'refused',
];
