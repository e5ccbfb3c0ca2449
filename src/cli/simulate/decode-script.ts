import type { Problem } from '../../model/desired.ts';
import { formatFieldPath, type Report } from '../../model/schema/field-path.ts';
import { FAULT_KINDS, type FaultRates } from '../../simulation/faults.ts';
import type { SimulatedImage } from '../../simulation/image-store.ts';
import { readYaml } from '../../sources/yaml/read-yaml.ts';
import { decodeContainerRule } from './decode-container-rule.ts';
import { decodeExpectation } from './decode-expectation.ts';
import { decodeStep, type ReadText } from './decode-step.ts';
import type { NodeScript, Script } from './script.ts';
import { fieldsOf, shaped, type Fields } from './script-reader.ts';

export interface DecodedScript {
  readonly script: Script;
  /** What is wrong with it; a script with problems is not to be used. */
  readonly problems: readonly Omit<Problem, 'source'>[];
}

const GIB = 2 ** 30;

/** Reads the text of a script. `read` gets what manifests its steps add. Never throws. */
export function decodeScript(text: string, origin: string, read: ReadText): DecodedScript {
  const { documents, problems: unreadable } = readYaml(text);
  const problems: Omit<Problem, 'source'>[] = unreadable.map(({ position, path = [], message }) => ({
    origin,
    position,
    ...(path.length > 0 && { field: formatFieldPath(path) }),
    message,
  }));
  const [document, second] = documents;
  if (second) problems.push({ origin, position: second.position, message: 'must hold one document, not several' });

  const positionOf = document?.locate ?? ((): { line: number; column: number } => ({ line: 1, column: 1 }));
  const report: Report = (path, message) => {
    problems.push({
      origin,
      position: positionOf(path),
      ...(path.length > 0 && { field: formatFieldPath(path) }),
      message,
    });
  };
  const fields = fieldsOf(shaped('Script', document?.value ?? {}, [], report), [], report);
  const script: Script = {
    ...timeOf(fields),
    node: nodeOf(fields.part('node')),
    images: imagesOf(fields.part('images')),
    containers: fields.parts('containers').map(decodeContainerRule),
    dice: diceOf(fields.part('dice')),
    steps: fields.parts('steps').flatMap((step) => {
      const act = decodeStep(step, read);
      return act ? [{ ...act, at: step.needDuration('at'), position: positionOf(step.path) }] : [];
    }),
    expectations: fields.parts('expect').flatMap((one) => {
      const claim = decodeExpectation(one);
      const at = one.duration('at');
      return claim ? [{ ...claim, ...(at === undefined ? {} : { at }), position: positionOf(one.path) }] : [];
    }),
  };
  return { script, problems: problems.toSorted(byPosition) };
}

/** What there is without a script: a node on which nothing goes wrong. */
export function emptyScript(): Script {
  return decodeScript('', '', () => ({ unreadable: '' })).script;
}

function byPosition({ position: a }: Omit<Problem, 'source'>, { position: b }: Omit<Problem, 'source'>): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

function timeOf(fields: Fields): Pick<Script, 'for' | 'seed'> {
  const span = fields.duration('for');
  const seed = fields.number('seed');
  return { ...(span === undefined ? {} : { for: span }), ...(seed === undefined ? {} : { seed }) };
}

function nodeOf(fields: Fields | undefined): NodeScript {
  const cpu = fields?.quantity('cpu');
  if (cpu === 0) fields?.report([...fields.path, 'cpu'], 'must be at least 1');
  return {
    cpus: cpu ?? 4,
    memory: fields?.quantity('memory') ?? 16 * GIB,
    disk: fields?.quantity('disk') ?? 100 * GIB,
    events: fields?.flag('events') ?? true,
  };
}

function imagesOf(fields: Fields | undefined): Script['images'] {
  return Object.fromEntries(
    (fields?.names ?? []).map((name): [string, SimulatedImage] => {
      const image = fields?.part(name);
      const present = image?.flag('present');
      const pullTime = image?.duration('pullTime');
      const pullError = image?.text('pullError');
      const size = image?.quantity('size');
      return [
        name,
        {
          ...(present === undefined ? {} : { present }),
          ...(pullTime === undefined ? {} : { pullTime }),
          ...(pullError === undefined ? {} : { pullError }),
          ...(size === undefined ? {} : { size }),
        },
      ];
    }),
  );
}

function diceOf(fields: Fields | undefined): FaultRates {
  const rates = FAULT_KINDS.flatMap((kind) => {
    const rate = fields?.number(kind);
    return rate === undefined ? [] : [[kind, rate] as const];
  });
  const [odd] = rates.find(([, rate]) => !(rate >= 0 && rate <= 1)) ?? [];
  if (fields && odd !== undefined) fields.report([...fields.path, odd], 'must be a probability from 0 to 1');
  else if (fields && rates.reduce((sum, [, rate]) => sum + rate, 0) > 1)
    fields.report(fields.path, 'must be at most 1 together');
  return Object.fromEntries(rates);
}
