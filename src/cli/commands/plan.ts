import { basename, join, resolve } from 'node:path';
import { asyncScheduler, catchError, concat, concatMap, EMPTY, forkJoin, of, throwError, type Observable } from 'rxjs';
import { nodeFiles } from '../../host/files/node-files.ts';
import { describeProblem, type Desired, type Problem } from '../../model/desired.ts';
import { expandWorkloads, NO_WORKLOADS, type WorkloadMemory } from '../../model/workloads/expand-workloads.ts';
import { foldManifests, initialState } from '../../sources/file/fold-manifests.ts';
import { scanManifests, type ManifestScan } from '../../sources/file/scan-manifests.ts';
import type { PlanGround } from '../../streams/view/plan-ground.ts';
import { CliError } from '../cli-error.ts';
import type { PlanOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { manifestMemory } from '../manifest-memory.ts';
import { workloadMemory } from '../workload-memory.ts';
import { foresee, type Fate, type Foreseen } from '../plan/foresee.ts';
import { askAgent } from './ask-agent.ts';
import { count } from './count.ts';

/**
 * `rxlet plan`: emits text for standard output and completes; touches nothing. Errors with a {@link CliError} at its
 * end where something would change (exit code 1) or where manifests have problems (2), or where no agent answers (4).
 */
export function plan(options: PlanOptions, nodeName: string): Observable<string> {
  const { path, socket, empty, format } = options;
  const ground$ = empty ? of(emptyGround(nodeName)) : askAgent<PlanGround>(socket, '/rxlet/plan-ground');
  return ground$.pipe(
    concatMap((ground) => forkJoin([of(ground), scanManifests(path), memoryOf(ground), workloadsOf(ground)])),
    concatMap(([ground, scan, memory, workloads]) => {
      if (scan.kind === 'failed') throw new CliError(EXIT_CODES.usage, `${path}: ${scan.message}`);
      if (scan.missing !== undefined) throw new CliError(EXIT_CODES.usage, `${path}: ${scan.missing}`);
      const { place, back } = placed(scan, path, ground.manifests);
      const { desired: said } = foldManifests(initialState(memory), place, {
        path: ground.manifests,
        nodeName: ground.nodeName,
      });
      const desired = settled(said, workloads);
      const problems = desired.problems.map((one): Problem => ({ ...one, origin: back.get(one.origin) ?? one.origin }));
      const foreseen = foresee(ground, desired, asyncScheduler.now());
      return concat(
        of(format === 'json' ? printJson(foreseen, problems) : print(foreseen, problems)),
        end(foreseen, problems),
      );
    }),
  );
}

function emptyGround(nodeName: string): PlanGround {
  const facts: PlanGround['facts'] = { runtimeName: '', hostIps: [], update: 'prepare' };
  return { nodeName, manifests: '', rootDir: '', entries: [], stopped: [], facts };
}

/** What the agent would fall back on for a file that is broken. */
function memoryOf({ rootDir }: PlanGround): ReturnType<ReturnType<typeof manifestMemory>['load']> {
  if (rootDir === '') return of(undefined);
  return manifestMemory(join(rootDir, 'manifests.json'), nodeFiles())
    .load()
    .pipe(catchError(() => of(undefined)));
}

/** How far the agent's Jobs have come. */
function workloadsOf({ rootDir }: PlanGround): Observable<WorkloadMemory | undefined> {
  if (rootDir === '') return of(undefined);
  return workloadMemory(join(rootDir, 'workloads.json'), nodeFiles())
    .load()
    .pipe(catchError(() => of(undefined)));
}

/** With the pods that its workloads want in the end, when every rollout is over. */
function settled(desired: Desired, memory: WorkloadMemory = NO_WORKLOADS): Desired {
  const now = asyncScheduler.now();
  const { pods, problems } = expandWorkloads({ ...memory, slots: {} }, desired.objects ?? [], new Map(), now);
  return { ...desired, pods: [...desired.pods, ...pods], problems: [...desired.problems, ...problems] };
}

interface Placed {
  readonly place: ManifestScan;
  /** Where each file really is. */
  readonly back: ReadonlyMap<string, string>;
}

/** The files as if they lay where the agent looks: their place is part of the UIDs of their pods. */
function placed(scan: Extract<ManifestScan, { kind: 'read' }>, path: string, manifests: string): Placed {
  const folder = manifests === '' ? resolve(path) : manifests;
  const isFile = scan.files.length === 1 && scan.files[0]?.path === path;
  const files = scan.files.map((file) => ({
    file,
    there: isFile && manifests === '' ? folder : join(folder, basename(file.path)),
  }));
  return {
    place: { ...scan, files: files.map(({ file, there }) => ({ ...file, path: there })) },
    back: new Map(files.map(({ file, there }) => [there, file.path])),
  };
}

const SIGNS: Readonly<Record<Fate, string>> = {
  start: '+',
  replace: '~',
  restart: '~',
  update: '~',
  stop: '-',
  refuse: '!',
  stopped: ' ',
  stay: ' ',
};

function print(foreseen: readonly Foreseen[], problems: readonly Problem[]): string {
  const width = Math.max(0, ...foreseen.map(({ pod }) => pod.length));
  const lines = foreseen.map(({ pod, fate, why }) =>
    `${SIGNS[fate]} ${pod.padEnd(width)}  ${fate.padEnd(7)}  ${why}`.trimEnd(),
  );
  const fates = [...new Set(foreseen.map(({ fate }) => fate))].map(
    (fate) => `${foreseen.filter((one) => one.fate === fate).length} ${fate}`,
  );
  const told = problems.map(describeProblem);
  return `${[...told, ...lines, fates.length > 0 ? fates.join(', ') : 'No pods.'].join('\n')}\n`;
}

function printJson(foreseen: readonly Foreseen[], problems: readonly Problem[]): string {
  return `${JSON.stringify({ pods: foreseen, problems }, undefined, 2)}\n`;
}

function end(foreseen: readonly Foreseen[], problems: readonly Problem[]): Observable<never> {
  const changes = foreseen.filter(({ fate }) => SIGNS[fate] !== ' ');
  if (problems.length > 0)
    return throwError(() => new CliError(EXIT_CODES.usage, `${count(problems.length, 'problem')} in the manifests`));
  if (changes.length > 0)
    return throwError(() => new CliError(EXIT_CODES.findings, `${count(changes.length, 'pod')} would change`));
  return EMPTY;
}
