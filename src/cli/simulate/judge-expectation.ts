import { fullNameOf } from '../../model/pod.ts';
import { isAbout } from './behaviour.ts';
import { containersOf } from './chronicle.ts';
import type { ContainerOutcome, Sight } from './outcome.ts';
import { isReady } from './pod-state.ts';
import type { Bound, Claim } from './script.ts';

export interface Judgement {
  readonly text: string;
  readonly isMet: boolean;
  /** What there is instead. */
  readonly found?: string;
}

/** Holds a claim against what there is to see of the node. */
export function judgeExpectation(claim: Claim, sight: Sight, nodeName: string): Judgement {
  switch (claim.kind) {
    case 'problem': {
      const count = sight.problems.filter((one) => one.includes(claim.text)).length;
      return counted(`problems with ${JSON.stringify(claim.text)}`, count, claim.times);
    }
    case 'event': {
      const whose = [claim.pod, claim.container].filter((one) => one !== undefined).join(' ');
      const text = `events ${claim.reason}${whose === '' ? '' : ` of ${whose}`}`;
      return counted(text, sight.countEvents(claim.reason, claim), claim.times);
    }
    case 'call': {
      const text = `calls of ${claim.call}${claim.pod === undefined ? '' : ` for ${claim.pod}`}`;
      return counted(text, sight.countCalls(claim.call, claim), claim.times);
    }
    case 'pod':
    case 'container':
      return ofPod(claim, sight, nodeName);
  }
}

type PodClaim = Extract<Claim, { kind: 'pod' | 'container' }>;

function ofPod(claim: PodClaim, { pods }: Sight, nodeName: string): Judgement {
  const { pod, namespace } = claim;
  const named = { pod, ...(namespace === undefined ? {} : { namespace }) };
  const views = pods.filter((one) => {
    const { name, namespace: its } = one.pod.metadata;
    return isAbout(named, { pod: name, namespace: its }, nodeName);
  });
  // While one takes the place of another there are two; the one that has the name is meant.
  const view = views.find(({ phase }) => phase !== 'waiting') ?? views[0];
  if (claim.kind === 'pod' && claim.exists !== undefined) {
    const exists = claim.exists ? 'exists' : 'does not exist';
    return { text: `pod ${pod} ${exists}`, isMet: (view !== undefined) === claim.exists };
  }
  const containers = containersOf(view);
  if (claim.kind === 'pod') {
    const ready = isReady(view?.status);
    return compared(`pod ${pod}`, view && fullNameOf(view.pod), [
      claim.phase === undefined ? undefined : equal('phase', claim.phase, view?.status.phase ?? 'Pending'),
      readiness(claim.ready, ready),
      restarts(claim.restarts, containers),
    ]);
  }
  const container = containers.find(({ name }) => name === claim.container);
  return compared(`container ${claim.container} of ${pod}`, container?.name, [
    claim.state === undefined ? undefined : equal('state', claim.state, container?.state),
    claim.reason === undefined ? undefined : equal('reason', claim.reason, container?.reason),
    claim.exitCode === undefined ? undefined : equal('exit code', String(claim.exitCode), textOf(container?.exitCode)),
    readiness(claim.ready, container?.ready ?? false),
    restarts(claim.restarts, container ? [container] : []),
  ]);
}

interface Check {
  readonly text: string;
  readonly isMet: boolean;
  readonly found: string;
}

function equal(what: string, wanted: string, found: string | undefined): Check {
  return { text: `${what} ${wanted}`, isMet: wanted === found, found: `${what} ${found ?? 'none'}` };
}

function readiness(wanted: boolean | undefined, is: boolean): Check | undefined {
  const words = (ready: boolean): string => (ready ? 'ready' : 'not ready');
  return wanted === undefined ? undefined : { text: words(wanted), isMet: wanted === is, found: words(is) };
}

function restarts(bound: Bound | undefined, containers: readonly ContainerOutcome[]): Check | undefined {
  if (bound === undefined) return undefined;
  const count = containers.reduce((sum, one) => sum + one.restarts, 0);
  return { text: `restarts ${boundText(bound)}`, isMet: holds(bound, count), found: `${count} restarts` };
}

/** All that is said of one thing has to be so. */
function compared(who: string, isThere: string | undefined, checks: readonly (Check | undefined)[]): Judgement {
  const made = checks.filter((check) => check !== undefined);
  const text = `${who}: ${made.map((check) => check.text).join(', ')}`;
  if (isThere === undefined) return { text, isMet: false, found: 'there is none' };
  const wrong = made.filter(({ isMet }) => !isMet).map(({ found }) => found);
  return wrong.length === 0 ? { text, isMet: true } : { text, isMet: false, found: wrong.join(', ') };
}

function counted(what: string, count: number, bound: Bound): Judgement {
  const isMet = holds(bound, count);
  return { text: `${what}: ${boundText(bound)}`, isMet, ...(isMet ? {} : { found: `there were ${count}` }) };
}

function holds({ atLeast, atMost }: Bound, count: number): boolean {
  return count >= atLeast && count <= atMost;
}

function boundText({ atLeast, atMost }: Bound): string {
  if (atLeast === atMost) return String(atLeast);
  if (atMost === Number.POSITIVE_INFINITY) return `at least ${atLeast}`;
  return atLeast === 0 ? `at most ${atMost}` : `from ${atLeast} to ${atMost}`;
}

function textOf(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number);
}
