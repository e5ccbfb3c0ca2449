import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { AgentKind } from './agent-process.ts';
import { PARTS, type Part } from './sample.ts';

export const HELP = `usage: npm run bench -- [OPTIONS]      as root; measures rxlet beside the bare calls to the runtime
  --runtime 1.6|2        only this containerd; both without it
  --parts PART,...       story, start, idle, load; all without it
  --n N,...              pods of the story: 1,10,60
  --pods N,...           pods of idle: 0,12,62,110; the load has the most of them
  --reps N               repetitions, of which the medians are shown: 3
  --idle SECONDS         how long what an agent takes is measured: 30
  --agents NAME=SCRIPT,...  other agents, see docs/performance.md
  --api NAME=URL,...     where they serve /pods and /metrics
  --json FILE            writes all that was measured
  --from FILE,...        measures nothing, and shows what such files hold
  --markdown             prints tables for a document
  --write FILE           writes them between the marks of a document`;

export interface BenchOptions {
  readonly runtimes: readonly string[];
  readonly parts: readonly Part[];
  readonly story: readonly number[];
  readonly pods: readonly number[];
  readonly repetitions: number;
  /** Seconds. */
  readonly idle: number;
  /** Beside rxlet. */
  readonly agents: readonly AgentKind[];
  readonly json: string | undefined;
  /** Files with what was measured before. */
  readonly from: readonly string[];
  readonly markdown: boolean;
  readonly write: string | undefined;
}

/** Throws an error for people where the command line is wrong. */
export function parseOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runtime: { type: 'string' },
      parts: { type: 'string', default: PARTS.join(',') },
      n: { type: 'string', default: '1,10,60' },
      pods: { type: 'string', default: '0,12,62,110' },
      reps: { type: 'string', default: '3' },
      idle: { type: 'string', default: '30' },
      agents: { type: 'string', default: '' },
      api: { type: 'string', default: '' },
      json: { type: 'string' },
      from: { type: 'string', default: '' },
      markdown: { type: 'boolean', default: false },
      write: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  if (values.runtime !== undefined && !RUNTIMES.includes(values.runtime))
    throw new Error(`--runtime is 1.6 or 2, not ${values.runtime}`);
  return {
    runtimes: values.runtime === undefined ? RUNTIMES : [values.runtime],
    parts: listOf(values.parts).map(partOf),
    story: numbers('n', values.n, 1),
    pods: numbers('pods', values.pods, 0),
    repetitions: numberOf('reps', values.reps, 1),
    idle: numberOf('idle', values.idle, 1),
    agents: agentsOf(values.agents, new Map(pairs('api', values.api))),
    json: values.json,
    from: listOf(values.from),
    markdown: values.markdown,
    write: values.write,
  };
}

const RUNTIMES: readonly string[] = ['1.6', '2'];

function partOf(name: string): Part {
  const part = PARTS.find((each) => each === name);
  if (!part) throw new Error(`--parts has no ${name}: they are ${PARTS.join(', ')}`);
  return part;
}

function agentsOf(text: string, apis: ReadonlyMap<string, string>): readonly AgentKind[] {
  return pairs('agents', text).map(([name, script]) => {
    const api = apis.get(name);
    return { name, script: resolve(script), ...(api !== undefined && { api }) };
  });
}

function pairs(flag: string, text: string): readonly (readonly [string, string])[] {
  return listOf(text).map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1 || at === pair.length - 1) throw new Error(`--${flag} wants NAME=VALUE, not ${pair}`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}

function numbers(flag: string, text: string, least: number): readonly number[] {
  return listOf(text).map((each) => numberOf(flag, each, least));
}

function numberOf(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least)
    throw new Error(`--${flag} wants whole numbers from ${least} on, not ${text}`);
  return value;
}

function listOf(text: string): readonly string[] {
  return text.split(',').filter((each) => each !== '');
}
