import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync, renameSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startAgent, type Agent, type AgentPaths } from '../../e2e/harness/agent.ts';
import { servedPods, servedView } from '../../e2e/harness/local-api.ts';
import { mountsBelow } from '../../e2e/harness/mounts-below.ts';
import type { RuntimeLook } from '../../e2e/harness/runtime-look.ts';
import { until } from '../../e2e/harness/until.ts';
import { compareLife, type CaseResult } from '../compare-case.ts';
import { describeGap } from '../diff.ts';
import { slackOf } from '../live-case.ts';
import type { CorpusCase, RecordedStep } from '../record.ts';
import { configTextOf, FACTS, HOST_IP, MANIFESTS, PATHS } from '../recorded-node.ts';
import type { Batch } from './batches.ts';
import { CAN_MORE, judgeReal } from './judge-real.ts';
import { compareFiles, isAllowedFile } from './files-on-disk.ts';
import { lifeOf, lookForNew, podNamesOf, type RealCase, type Seen } from './real-life.ts';

/** What came of a case on the real node. */
export interface RealResult {
  readonly result: CaseResult;
  /** Differences of what lies on the disk. */
  readonly files: readonly string[];
  /** Seconds until it was as expected, or given up. */
  readonly took: number;
}

const BASE = '/srv/gold';
const NODE_PATHS: AgentPaths = {
  manifests: MANIFESTS,
  root: PATHS.rootDir,
  socket: `${BASE}/rxlet.sock`,
  log: `${BASE}/agent.log`,
};
/** Milliseconds between two looks at the node. */
const PERIOD = 400;
const NODE_LABELS = '--node-labels=disk=ssd,zone=moon,cores=4';

/** Lives through some cases side by side; each ends when all is as recorded, or when it has had more time than the recording took. */
export async function playBatch(
  { variant, cases }: Batch,
  runtime: RuntimeLook,
  tagById: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<CorpusCase, RealResult>> {
  await clearNode(runtime);
  const config = `${BASE}/config.yaml`;
  writeFileSync(config, configTextOf(variant));
  const flags = [
    `--config=${config}`,
    `--hostname-override=${FACTS.nodeName}`,
    `--node-ip=${HOST_IP}`,
    '--update=immediate',
    ...(variant === 'labels' ? [NODE_LABELS] : []),
  ];
  const start = async (): Promise<Agent> => {
    const agent = startAgent(NODE_PATHS, flags);
    await until('the agent to serve its local API', () => {
      if (agent.hasEnded()) throw new Error('the agent has ended by itself');
      return servedPods(NODE_PATHS.socket);
    });
    return agent;
  };
  let agent = await start();
  const results = new Map<CorpusCase, RealResult>();
  try {
    const seen: Seen = { sandboxes: new Map(), containers: new Map() };
    let open = cases.map((corpusCase) => openCase(corpusCase));
    for (const { corpusCase } of open) for (const [name, bytes] of corpusCase.manifests) put(name, bytes);
    const begin = performance.now();
    while (open.length > 0) {
      await delay(PERIOD);
      const at = performance.now() - begin;
      for (const each of open)
        for (let step = each.steps[0]; step && at >= step.t * 1_000; step = each.steps[0]) {
          each.steps.shift();
          if (step.op === 'restart-kubelet') {
            await agent.signal('SIGTERM');
            await delay(Number(step.args[0]) * 1_000);
            agent = await start();
          } else takeStep(step, each.texts);
        }
      if (agent.hasEnded()) throw new Error('the agent has ended by itself');
      await lookForNew(runtime, seen);
      const view = await servedView(NODE_PATHS.socket);
      for (const each of open)
        for (const problem of view.problems)
          if (each.files.has(problem.origin)) each.problems.set(JSON.stringify(problem), problem);
      open = open.filter((each) => {
        const life = lifeOf(each, seen, view, tagById);
        each.former.push(...life.sights.slice(-2, -1));
        const result = remember(each, judgeReal(compareLife(each.corpusCase, life)), at);
        const files = filesOf(each.corpusCase, result, life, seen);
        const isEqual = result.equal.requests && result.equal.statuses && files.length === 0;
        const { removedAt } = each.corpusCase.record;
        const isOver = at > removedAt * 1_000 + slackOf(removedAt * 1_000) + PATIENCE;
        if (each.steps.length > 0 || at < LEAST || (!isEqual && !isOver)) return true;
        results.set(each.corpusCase, { result, files, took: at / 1_000 });
        for (const file of each.files) rmSync(file, { force: true });
        return false;
      });
    }
  } finally {
    if (!agent.hasEnded()) await agent.signal('SIGKILL');
    await clearNode(runtime);
  }
  return results;
}

/** Milliseconds that nothing is judged before: what is refused is refused at once, and what is to be taken in is not yet there. */
const LEAST = 2_000;
/** Milliseconds that a case gets beside those that it took at the recording: this machine does several at once. */
const PATIENCE = 60_000;

interface OpenCase extends RealCase {
  readonly steps: RecordedStep[];
  readonly texts: Buffer[];
  readonly files: ReadonlySet<string>;
  /** When it was last as recorded, since the last step; milliseconds since the beginning. */
  readonly met: Map<'requests' | 'statuses', number>;
}

/**
 * Milliseconds between the moments of the requests and of the status of one recording at most: its last status may be
 * a second old, and a container that it had asked for took its machine up to five to start.
 */
const TOGETHER = 6_000;

/** The recording has its requests and its last status of about one moment, so ours are of about one moment too. */
function remember({ steps, met }: OpenCase, result: CaseResult, at: number): CaseResult {
  if (steps.length > 0) return result;
  for (const measure of ['requests', 'statuses'] as const) if (result.equal[measure]) met.set(measure, at);
  const isMet = (measure: 'requests' | 'statuses'): boolean => at - (met.get(measure) ?? -Infinity) <= TOGETHER;
  return {
    ...result,
    equal: { ...result.equal, requests: isMet('requests'), statuses: isMet('statuses') },
    differences: result.differences.filter(
      ({ measure, rule }) =>
        rule !== undefined || !(measure === 'requests' || measure === 'statuses') || !isMet(measure),
    ),
  };
}

function openCase(corpusCase: CorpusCase): OpenCase {
  const steps = [...(corpusCase.record.steps ?? [])];
  const written = steps.flatMap(({ op, args }) => (op === 'write' || op === 'modify' ? [String(args[0])] : []));
  const moved = steps.flatMap(({ op, args }) =>
    op === 'sh' ? [...String(args[0]).matchAll(/<MANIFESTS>\/(\S+)/g)].map(([, name = '']) => name) : [],
  );
  return {
    corpusCase,
    names: podNamesOf(corpusCase),
    problems: new Map(),
    former: [],
    met: new Map(),
    steps,
    texts: [...corpusCase.stepTexts],
    files: new Set([...corpusCase.manifests.keys(), ...written, ...moved].map((name) => join(MANIFESTS, name))),
  };
}

function put(name: string, bytes: Uint8Array): void {
  const path = join(MANIFESTS, name);
  mkdirSync(join(path, '..'), { recursive: true });
  const beside = join(path, '..', `.new`);
  writeFileSync(beside, bytes);
  renameSync(beside, path);
}

function takeStep({ op, args }: RecordedStep, texts: Buffer[]): void {
  const what = String(args[0] ?? '');
  if (op === 'write') put(what, texts.shift() ?? Buffer.of());
  else if (op === 'modify') writeFileSync(join(MANIFESTS, what), texts.shift() ?? Buffer.of());
  else if (op === 'remove') rmSync(join(MANIFESTS, what), { force: true });
  else if (op === 'sh') execFileSync('sh', ['-c', what.replaceAll('<MANIFESTS>', MANIFESTS)]);
}

function filesOf(
  { record }: CorpusCase,
  { equal, differences }: CaseResult,
  life: ReturnType<typeof lifeOf>,
  seen: Seen,
): readonly string[] {
  const isOther = differences.some(({ rule }) => rule === CAN_MORE);
  if (!equal.requests || !equal.statuses || isOther || !record.pod) return [];
  const { name, namespace } = record.pod.metadata;
  // Of what was taken away before the end, there may be more or less left at any moment.
  if (
    !life.sights
      .at(-1)
      ?.pods.some(({ pod: { metadata } }) => metadata.name === name && metadata.namespace === namespace)
  )
    return [];
  const own = [...seen.sandboxes.values()]
    .filter(({ config: { metadata } }) => metadata?.name === name && metadata.namespace === namespace)
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .at(-1);
  const uid = own?.config.metadata?.uid;
  const gaps = uid === undefined ? [] : compareFiles(record, life, uid, own?.id);
  return gaps.filter((gap) => !isAllowedFile(gap, record, life)).map(describeGap);
}

/** Nothing in the runtime, on the disk and in the folder. */
async function clearNode(runtime: RuntimeLook): Promise<void> {
  await runtime.wipe();
  for (const target of mountsBelow(PATHS.rootDir).toReversed()) execFileSync('umount', ['-l', target]);
  // The logs, too: by their names a pod that is lived through again goes on to count its restarts.
  for (const folder of [MANIFESTS, PATHS.rootDir, PATHS.podLogsDir]) {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  }
  // The seccomp profile that manifests of the recording name.
  mkdirSync(`${PATHS.rootDir}/seccomp/sub`, { recursive: true });
  writeFileSync(`${PATHS.rootDir}/seccomp/sub/allow.json`, '{"defaultAction":"SCMP_ACT_ALLOW"}\n');
  const made = `${BASE}/fix/hp`;
  for (const name of ['newfile', 'newdir0', 'made', 'nofile', 'nodir', 'nop'])
    if (existsSync(join(made, name))) rmSync(join(made, name), { recursive: true, force: true });
}
