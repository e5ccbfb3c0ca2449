import type { ContainerRule, ExecRule, ProbeRule, Whose } from './script.ts';
import { fieldsOf, shaped, type Fields } from './script-reader.ts';

/** What a script says that some containers do. */
export function decodeContainerRule(fields: Fields): ContainerRule {
  const startError = fields.text('startError');
  const terminationMessage = fields.text('terminationMessage');
  return {
    ...whoseOf(fields),
    exits: exitsOf(fields),
    ...onTermOf(fields.part('sigterm')),
    ...(startError === undefined ? {} : { startError }),
    ...(terminationMessage === undefined ? {} : { terminationMessage }),
    prints: fields.parts('prints').map(printOf),
    exec: fields.parts('exec').map(execOf),
    probes: fields.parts('probes').map(probeOf),
  };
}

/** Whom something is about. */
export function whoseOf(fields: Fields): Whose {
  const [pod, namespace, container] = ['pod', 'namespace', 'container'].map(fields.text);
  return {
    ...(pod === undefined ? {} : { pod }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(container === undefined ? {} : { container }),
  };
}

/** One map is about every instance, a list about one after the other. */
function exitsOf(fields: Fields): ContainerRule['exits'] {
  if (!fields.has('exits')) return { list: [] };
  const path = [...fields.path, 'exits'];
  const each = fields.part('exits');
  if (each) return { each: exitOf(shapedFields('Exit', each)) };
  const items = fields.parts('exits');
  const isList = items.length > 0 || fields.texts('exits') !== undefined;
  if (!isList) fields.report(path, 'must be a map of after and code, or a list of such maps');
  return { list: items.map((item) => exitOf(shapedFields('Exit', item))) };
}

/** `any` was not looked into when the shape of the whole was checked. */
function shapedFields(type: string, { path, value, report }: Fields): Fields {
  return fieldsOf(shaped(type, value, path, report), path, report);
}

type Exit = Extract<ContainerRule['exits'], { each: unknown }>['each'];

function exitOf(fields: Fields): Exit {
  const reason = fields.text('reason');
  return {
    after: fields.duration('after') ?? 0,
    spread: fields.duration('spread') ?? 0,
    code: codeOf(fields, 'code'),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** An exit code; 0 unless told. */
export function codeOf(fields: Fields, name: string): number {
  const code = fields.number(name) ?? 0;
  if (code < 0 || code > 255) fields.report([...fields.path, name], 'must be an exit code from 0 to 255');
  return code;
}

function onTermOf(fields: Fields | undefined): Pick<ContainerRule, 'onTerm'> {
  if (!fields) return {};
  if (fields.flag('ignored') === true) return { onTerm: 'ignored' };
  return { onTerm: { after: fields.duration('after') ?? 10, code: codeOf(fields, 'code') } };
}

function printOf(fields: Fields): ContainerRule['prints'][number] {
  const stream = fields.oneOf('stream', ['stdout', 'stderr']);
  const text = fields.text('text') ?? '';
  return { after: fields.duration('after') ?? 0, text, ...(stream === undefined ? {} : { stream }) };
}

function execOf(fields: Fields): ExecRule {
  const command = fields.texts('command');
  const stdout = fields.text('stdout');
  const stderr = fields.text('stderr');
  return {
    ...(command === undefined ? {} : { command }),
    exitCode: codeOf(fields, 'exitCode'),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    after: fields.duration('after') ?? 0,
  };
}

function probeOf(fields: Fields): ProbeRule {
  const probe = fields.oneOf('probe', ['liveness', 'readiness', 'startup']);
  const output = fields.text('output');
  return {
    ...(probe === undefined ? {} : { probe }),
    from: fields.duration('from') ?? 0,
    to: fields.duration('to') ?? Number.POSITIVE_INFINITY,
    fromAge: fields.duration('fromAge') ?? 0,
    toAge: fields.duration('toAge') ?? Number.POSITIVE_INFINITY,
    answer: fields.oneOf('answer', ['failure', 'timeout', 'warning']) ?? 'failure',
    ...(output === undefined ? {} : { output }),
  };
}
