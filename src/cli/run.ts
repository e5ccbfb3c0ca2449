import {
  catchError,
  combineLatest,
  concat,
  defer,
  EMPTY,
  filter,
  forkJoin,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  of,
  pairwise,
  race,
  skip,
  startWith,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  throttleTime,
  throwError,
  timer,
  withLatestFrom,
  type Observable,
} from 'rxjs';
import { atHandIn } from '../host/files/at-hand.ts';
import { nodeFiles } from '../host/files/node-files.ts';
import { giveBack } from '../host/machine/give-back.ts';
import { systemd, systemdStopping } from '../host/systemd/systemd.ts';
import type { RunConfig } from '../model/config/run-config.ts';
import type { PodCommand } from '../model/pod-command.ts';
import type { PodSights } from '../model/workloads/pod-sight.ts';
import { describeProblem, type Problem } from '../model/desired.ts';
import { shareLatest } from '../operators/share-latest.ts';
import { WrongApiError } from '../runtime/runtime-facts.ts';
import { localApi } from '../server/local-api.ts';
import { agentMetrics } from '../server/metrics/agent-metrics.ts';
import { planRoute } from '../server/plan-route.ts';
import { planGround } from '../streams/view/plan-ground.ts';
import { podCommandRoutes } from '../server/pod-command-routes.ts';
import { traceRoute } from '../server/trace-route.ts';
import { SocketError } from '../server/listen-on-socket.ts';
import { viewRoutes } from '../server/view-routes.ts';
import { holdPods, type HeldSources } from '../sources/hold-pods.ts';
import { mergeSources } from '../sources/merge-sources.ts';
import type { Agent } from '../streams/agent.ts';
import { emptyBook } from '../streams/book/pod-book.ts';
import { traceLog } from '../streams/trace/trace-log.ts';
import { traceMeter } from '../streams/trace/trace-meter.ts';
import { traceProblems } from '../streams/trace/trace-problems.ts';
import { UNKNOWN_RUNTIME } from '../streams/runtime-state/runtime-state.ts';
import { podSights } from '../streams/workloads/pod-sights.ts';
import { EMPTY_EVENT_LOG } from '../streams/events/event-log.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { viewNode } from '../streams/view/view-node.ts';
import { CliError } from './cli-error.ts';
import { composeAgent } from './compose-agent.ts';
import { connect, type NodeEdges } from './connect.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { hearCommands } from './hear-commands.ts';
import type { LogLine } from './log-line.ts';
import {
  checkpointLine,
  housekeepingLine,
  imageGcLine,
  plegLine,
  reportLine,
  rotationLine,
  runtimeLine,
} from './log-reports.ts';
import { podSources } from './pod-sources.ts';
import type { Tape } from './recording/tape.ts';
import { statusLine } from './status-line.ts';
import { stopMemory } from './stop-memory.ts';
import { nodeRoutes } from './node-routes.ts';
import { streamingRoutes } from './streaming-routes.ts';
import { tcpServers } from './tcp-servers.ts';

/** Milliseconds between two views for those who watch, at least. */
const VIEW_PAUSE = 50;

/** Events: some minutes of an idle node, in less than 2 MB. */
const TRACE_CAPACITY = 4_096;

/** Before the agent has turned its first page. */
const NO_BOOK = emptyBook({ runtimeName: '', hostIps: [], update: 'prepare', statuses: new Map() });

/** An agent at work on a runtime that has answered. */
interface Session {
  readonly edges: NodeEdges;
  readonly agent: Agent;
}

/**
 * The whole agent as one cold Observable: subscribing starts it, unsubscribing stops it and leaves the pods running.
 *
 * Emits lines for the log. `stop$` ends it: at once, or with `stopPodsOnExit` when every pod has ended; a second
 * signal ends it at once in any case. Completes then; errors only where the agent cannot start, or by a defect.
 */
export function run(config: RunConfig, stop$: Observable<unknown>): Observable<LogLine> {
  return defer(() => {
    const news = new Subject<LogLine>();
    const metrics = agentMetrics();
    const trace = traceLog(TRACE_CAPACITY);
    const traceMeasured = traceMeter(trace.record);
    const files = nodeFiles(
      atHandIn({ rootDir: config.rootDir, podLogsDir: config.config.podLogsDir }, config.config.resolvConf),
    );
    const commands = new Subject<PodCommand>();
    // Of workloads comes what they want next, and of that how their pods are.
    const sights = new Subject<PodSights>();
    const sources = holdPods(
      mergeSources(podSources(config, sights, files)),
      commands,
      stopMemory(`${config.rootDir}/stopped.json`, files),
    );
    const warn = (message: string): void => {
      news.next({ level: 'warn', message });
    };
    const connected$ = tapeOf(config, warn).pipe(
      switchMap((tape) =>
        connect(config, {
          files,
          onWait: (why) => {
            warn(`waiting for the container runtime: ${why}`);
          },
          onProblem: warn,
          meter: (measured) => {
            metrics.meter(measured);
            traceMeasured(measured);
          },
          trace: (fact) => {
            trace.record(fact);
            metrics.trace(fact);
          },
          tape,
        }),
      ),
    );
    const session$ = connected$.pipe(
      map((edges): Session => ({
        edges,
        agent: composeAgent(edges, sources, { update: config.update, drain$: config.stopPodsOnExit ? stop$ : NEVER }),
      })),
      startWith(undefined),
      shareLatest(),
    );
    const view$ = session$.pipe(
      switchMap((session) => (session ? viewsOf(session, sources) : viewsBefore(sources))),
      shareLatest(),
    );
    const events$ = session$.pipe(switchMap((session) => session?.agent.events$ ?? of(EMPTY_EVENT_LOG)));
    const book$ = session$.pipe(switchMap((session) => session?.agent.book$ ?? of(NO_BOOK)));
    const cri$ = session$.pipe(mergeMap((session) => (session ? [session.edges.context.cri] : [])));
    const routes = [
      ...viewRoutes({ view$, events$ }),
      ...streamingRoutes({ view$, cri$ }),
      ...nodeRoutes(config, {
        view$,
        book$,
        metrics,
        stats$: session$.pipe(map((session) => session?.edges.stats)),
      }),
      planRoute(
        combineLatest([book$, sources.stopped$]).pipe(
          map(([book, stopped]) =>
            planGround(book, {
              nodeName: config.nodeName,
              manifests: config.config.staticPodPath,
              rootDir: config.rootDir,
              stopped,
            }),
          ),
        ),
      ),
      traceRoute(trace),
      ...podCommandRoutes(hearCommands(sources, commands)),
    ];
    const env = process.env;

    return merge(
      of<LogLine>(standaloneLine(config)),
      from(config.warnings.map((message): LogLine => ({ level: 'warn', message }))),
      news,
      session$.pipe(switchMap((session) => (session ? linesOf(session) : EMPTY))),
      session$.pipe(
        switchMap((session) => session?.agent.note$ ?? EMPTY),
        tap(metrics.happened),
        ignoreElements(),
      ),
      session$.pipe(
        switchMap((session) => session?.agent.imageGc$ ?? EMPTY),
        tap(metrics.imageGone),
        ignoreElements(),
      ),
      session$.pipe(
        switchMap((session) => (session ? podSights(session.agent.book$) : EMPTY)),
        tap((seen) => {
          sights.next(seen);
        }),
        ignoreElements(),
      ),
      sources.problem$.pipe(
        startWith([]),
        pairwise(),
        tap(([before, now]) => {
          traceProblems(before, now, trace.record);
        }),
        mergeMap(([before, now]) => problemLines(before, now)),
      ),
      localApi({ socket: config.socket, routes: metrics.http.metered(routes, 'local') }).pipe(
        map((socket): LogLine => ({ level: 'info', message: 'the local API is ready', fields: { socket } })),
      ),
      tcpServers(config, metrics.http.metered(routes, 'readwrite')),
      giveBack(book$),
      systemd({
        env,
        pid: process.pid,
        healthy$: view$.pipe(map((view) => view.plegHealthy)),
        status$: view$.pipe(map(statusLine)),
      }).pipe(map((message): LogLine => ({ level: 'warn', message }))),
    ).pipe(
      catchError((error: unknown) => throwError(() => explained(error))),
      takeUntil(merge(endOf(session$, stop$, config.stopPodsOnExit), stop$.pipe(skip(1)))),
    );
  });
}

/** What `--record` asks for; without it nothing of that is loaded. */
function tapeOf({ record }: RunConfig, onProblem: (message: string) => void): Observable<Tape | undefined> {
  if (record === undefined) return of(undefined);
  return from(import('./recording/record.ts')).pipe(switchMap(({ recordTo }) => recordTo(record, onProblem)));
}

/** What the machine does not let us do is no defect of ours. */
function explained(error: unknown): unknown {
  if (error instanceof SocketError) return new CliError(EXIT_CODES.cannotStart, error.message);
  if (error instanceof WrongApiError)
    return new CliError(EXIT_CODES.cannotStart, error.message, 'Use containerd 1.6 or newer, or CRI-O.');
  if (error instanceof Error && 'syscall' in error) return new CliError(EXIT_CODES.cannotStart, error.message);
  return error;
}

/** Nobody need guess from what is missing in the configuration that there is no API server. */
function standaloneLine({ config: { staticPodPath } }: RunConfig): LogLine {
  return {
    level: 'info',
    message: 'standalone: pods come from manifests only, no API server is asked',
    fields: { mode: 'standalone', manifests: staticPodPath },
  };
}

function linesOf({
  agent: { report$, book$, runtime$, plegHealth$, housekeeping$, checkpoint$, cgroup$, rotation$, imageGc$ },
}: Session): Observable<LogLine> {
  return merge(
    report$.pipe(
      withLatestFrom(book$.pipe(startWith(NO_BOOK))),
      map(([report, book]) => reportLine(report, book)),
      filter((line) => line !== undefined),
    ),
    housekeeping$.pipe(map(housekeepingLine)),
    checkpoint$.pipe(map(checkpointLine)),
    cgroup$.pipe(map((message): LogLine => ({ level: 'warn', message }))),
    rotation$.pipe(map(rotationLine)),
    imageGc$.pipe(map(imageGcLine)),
    runtime$.pipe(map(runtimeLine)),
    plegHealth$.pipe(map(plegLine)),
  );
}

function viewsOf({ agent: { book$, runtime$, plegHealth$ } }: Session, sources: HeldSources): Observable<NodeView> {
  return combineLatest({
    book: book$.pipe(startWith(NO_BOOK)),
    problems: sources.problem$,
    stopped: sources.stopped$,
    runtime: runtime$.pipe(startWith(UNKNOWN_RUNTIME)),
    pleg: plegHealth$,
  }).pipe(throttleTime(VIEW_PAUSE, undefined, { leading: true, trailing: true }), map(viewNode));
}

/** Bad manifests can be seen and mended while the runtime is not there yet. */
function viewsBefore({ problem$, stopped$ }: HeldSources): Observable<NodeView> {
  return combineLatest([problem$, stopped$]).pipe(
    map(([problems, stopped]) =>
      viewNode({
        book: NO_BOOK,
        problems,
        stopped,
        runtime: UNKNOWN_RUNTIME,
        pleg: { healthy: true, message: '' },
      }),
    ),
  );
}

function problemLines(before: readonly Problem[], now: readonly Problem[]): readonly LogLine[] {
  const told = new Set(before.map(describeProblem));
  const current = new Set(now.map(describeProblem));
  const fresh = [...current].filter((text) => !told.has(text)).map((message): LogLine => ({ level: 'error', message }));
  const gone = [...told]
    .filter((text) => !current.has(text))
    .map((text): LogLine => ({ level: 'info', message: `mended: ${text}` }));
  return [...fresh, ...gone];
}

/** Milliseconds that systemd gets to hear that we stop. */
const FAREWELL = 500;

function endOf(
  session$: Observable<Session | undefined>,
  stop$: Observable<unknown>,
  drains: boolean,
): Observable<unknown> {
  const farewell$ = race(concat(systemdStopping(process.env), of(undefined)), timer(FAREWELL));
  const drained$ = session$.pipe(switchMap((session) => session?.agent.drained$ ?? of(undefined)));
  return stop$.pipe(
    take(1),
    switchMap(() => (drains ? forkJoin([farewell$.pipe(take(1)), drained$.pipe(take(1))]) : farewell$)),
  );
}
