import { randomInt } from 'node:crypto';
import {
  asapScheduler,
  asyncScheduler,
  auditTime,
  catchError,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  mergeMap,
  tap,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { SocketError } from '../../server/listen-on-socket.ts';
import { commandScript } from '../../simulation/command-script.ts';
import { simulatedNode, type World } from '../../simulation/simulated-node.ts';
import { CliError } from '../cli-error.ts';
import type { ServeOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { nodeNameOf } from '../resolve-run-options.ts';
import { behaviourOf } from './behaviour.ts';
import { callOwners } from './call-owners.ts';
import { describeStep } from './describe-step.ts';
import { loadNode, saveNode } from './kept-node.ts';
import { manifestFolder } from './manifest-folder.ts';
import { performStep, type Stage } from './perform-step.ts';
import { readScript } from './read-script.ts';
import { realFiles } from './real-files.ts';
import type { Act, Script } from './script.ts';
import { scriptedFaults } from './scripted-faults.ts';
import { serveNode } from './serve-node.ts';

const SEEDS = 2 ** 31;

/**
 * A simulated container runtime in real time on a socket. Emits the endpoint, for standard output, once it listens,
 * and never completes; errors with a `CliError` where it cannot begin. `report` hears what goes wrong later.
 */
export function serve(options: ServeOptions, report: (problem: string) => void): Observable<string> {
  return defer(() => {
    const script = readScript(options.script);
    refuseOthersWork(script, options.script ?? '');
    const { serve: socket, seed = script.seed ?? randomInt(SEEDS), state } = options;
    const nodeName = nodeNameOf();
    const began = asyncScheduler.now();
    const { learn, ownerOf } = callOwners();
    const scripted = scriptedFaults({
      script,
      nodeName,
      passed: () => asyncScheduler.now() - began,
      whoseIs: ownerOf,
    });
    const { cri, world } = simulatedNode({
      seed,
      images: script.images,
      events: script.node.events,
      containerBehaviour: behaviourOf(script, nodeName, seed + 2, ({ config }) => commandScript(config)),
      faults: scripted.faults,
      hostFiles: realFiles(report),
      remembers: false,
      ...(state === undefined ? {} : { from: loadNode(state) }),
    });
    const stage: Stage = { ...NO_AGENT, world, nodeName, addFault: scripted.add };
    return merge(
      world.happening$.pipe(tap(learn), ignoreElements()),
      state === undefined ? EMPTY : keep(state, world, report),
      stepsOf(script, stage, report),
      serveNode({ cri }, socket).pipe(map((path) => `unix://${path}\n`)),
    );
  }).pipe(
    catchError((error: unknown) =>
      throwError(() => (error instanceof SocketError ? new CliError(EXIT_CODES.cannotStart, error.message) : error)),
    ),
  );
}

/** Answers take a millisecond at least: who hears one finds its effect kept, even if we are killed right then. */
function keep(path: string, { change$, state }: World, report: (problem: string) => void): Observable<never> {
  return change$.pipe(
    auditTime(0, asapScheduler),
    tap(() => {
      try {
        saveNode(path, state());
      } catch (error) {
        report(`the state is not kept: ${messageOf(error)}`);
      }
    }),
    ignoreElements(),
  );
}

function stepsOf({ steps }: Script, stage: Stage, report: (problem: string) => void): Observable<never> {
  return merge(
    ...steps.map((step) =>
      timer(step.at).pipe(
        mergeMap(() => {
          const { problem, later$ } = performStep(step, stage);
          if (problem !== undefined) report(`${describeStep(step)}: ${problem}`);
          return later$;
        }),
        tap((act) => {
          act();
        }),
        ignoreElements(),
      ),
    ),
  );
}

/** Steps that are about the agent, its manifests or its disk are never performed. */
const NO_AGENT: Omit<Stage, 'world' | 'nodeName' | 'addFault'> = {
  folder: manifestFolder([]),
  pathOf: (name) => name,
  paths: { rootDir: '' },
  setClock: () => undefined,
  setAgent: () => undefined,
  command: () => 'no agent runs here',
};

/** A runtime does its own part of a script, and pretends to no other. */
function refuseOthersWork({ steps, expectations }: Script, path: string): void {
  const others = [
    ...steps.filter((step) => !OWN[step.do]).map((step) => ({ what: describeStep(step), at: step.position })),
    ...expectations.map(({ position }) => ({ what: 'an expectation', at: position })),
  ];
  if (others.length === 0) return;
  const lines = others.map(({ what, at }) => `  ${path}:${at.line}:${at.column}: ${what}`);
  throw new CliError(
    EXIT_CODES.usage,
    `a served runtime has no agent, manifests and disk of its own:\n${lines.join('\n')}`,
    'Run the script by rxlet simulate MANIFESTS, or leave these out.',
  );
}

const OWN: Readonly<Record<Act['do'], boolean>> = {
  exitContainer: true,
  killSandbox: true,
  fault: true,
  restartRuntime: true,
  reboot: true,
  cutEvents: true,
  networkDown: true,
  addManifest: false,
  editManifest: false,
  removeManifest: false,
  commandPod: false,
  fillVolume: false,
  crashAgent: false,
  disk: false,
  setClock: false,
};
