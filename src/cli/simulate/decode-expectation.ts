import { CALL_NAMES } from '../../simulation/latencies.ts';
import { whoseOf } from './decode-container-rule.ts';
import type { Bound, Claim } from './script.ts';
import { strange, type Fields } from './script-reader.ts';

/** What one expectation claims. `undefined` where it does not say what it expects, or of whom. */
export function decodeExpectation(fields: Fields): Claim | undefined {
  const kind = fields.has('problem') ? 'problem' : fields.has('event') ? 'event' : fields.has('call') ? 'call' : 'pod';
  const own = kind === 'pod' ? (fields.has('container') ? 'container' : 'pod') : kind;
  const strangers = fields.names.filter((name) => !FIELDS[own].includes(name) && name !== 'at');
  for (const name of strangers)
    fields.report([...fields.path, name], `says nothing about a ${own}; there are ${FIELDS[own].join(', ')}`);
  if (strangers.length > 0) return undefined;
  switch (own) {
    case 'problem':
      return { kind: 'problem', text: fields.needText('problem'), times: timesOf(fields) };
    case 'event':
      return { kind: 'event', reason: fields.needText('event'), times: timesOf(fields), ...whoseOf(fields) };
    case 'call': {
      const call = fields.needText('call');
      if (!CALL_NAMES.includes(call)) fields.report([...fields.path, 'call'], strange(call, CALL_NAMES));
      return { kind: 'call', call, times: timesOf(fields), ...whoseOf(fields) };
    }
    case 'container':
      return containerClaim(fields);
    case 'pod':
      return podClaim(fields);
  }
}

/** The fields by which each kind of claim is made. */
const FIELDS: Readonly<Record<Claim['kind'], readonly string[]>> = {
  pod: ['pod', 'namespace', 'exists', 'phase', 'ready', 'restarts'],
  container: ['pod', 'namespace', 'container', 'ready', 'restarts', 'state', 'reason', 'exitCode'],
  problem: ['problem', 'times'],
  event: ['event', 'pod', 'namespace', 'container', 'times'],
  call: ['call', 'pod', 'namespace', 'times'],
};

/** Once is enough, unless it is told how often. */
function timesOf(fields: Fields): Bound {
  return fields.bound('times') ?? { atLeast: 1, atMost: Number.POSITIVE_INFINITY };
}

type About = Pick<Extract<Claim, { kind: 'pod' }>, 'pod' | 'namespace' | 'ready' | 'restarts'>;

function about(fields: Fields): About {
  const namespace = fields.text('namespace');
  const ready = fields.flag('ready');
  const restarts = fields.bound('restarts');
  return {
    pod: fields.needText('pod'),
    ...(namespace === undefined ? {} : { namespace }),
    ...(ready === undefined ? {} : { ready }),
    ...(restarts === undefined ? {} : { restarts }),
  };
}

function podClaim(fields: Fields): Claim | undefined {
  const named = about(fields);
  if (needsMore(fields, ['exists', 'phase', 'ready', 'restarts'])) return undefined;
  const exists = fields.flag('exists');
  const phase = fields.oneOf('phase', PHASES);
  return {
    kind: 'pod',
    ...named,
    ...(exists === undefined ? {} : { exists }),
    ...(phase === undefined ? {} : { phase }),
  };
}

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;

function containerClaim(fields: Fields): Claim | undefined {
  const named = about(fields);
  if (needsMore(fields, ['ready', 'restarts', 'state', 'reason', 'exitCode'])) return undefined;
  const state = fields.oneOf('state', ['waiting', 'running', 'terminated']);
  const reason = fields.text('reason');
  const exitCode = fields.number('exitCode');
  return {
    kind: 'container',
    ...named,
    container: fields.needText('container'),
    ...(state === undefined ? {} : { state }),
    ...(reason === undefined ? {} : { reason }),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

function needsMore(fields: Fields, wanted: readonly string[]): boolean {
  const isMissing = !wanted.some(fields.has);
  if (isMissing) fields.report(fields.path, `must say what is expected: one of ${wanted.join(', ')}`);
  return isMissing;
}
