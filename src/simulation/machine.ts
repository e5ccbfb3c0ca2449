import { asyncScheduler, filter, merge, of, Subject, Subscription, take, type Observable } from 'rxjs';
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from '../model/cri/api.ts';
import type { ContainerLogs } from './container-logs.ts';
import type { Happening, SimulatedContainer, SimulatedSandbox } from './node-objects.ts';
import type { NodeState } from './node-state.ts';
import type { ContainerBehaviour, ProcessScript, StartingContainer } from './process-script.ts';
import { randomHex } from './seeded-random.ts';

export interface MachineOptions {
  readonly random: () => number;
  readonly behaviour: ContainerBehaviour;
  readonly logs: ContainerLogs;
  /** What the machine begins with; its processes go on from where they are. */
  readonly from: NodeState;
  /** Whether the history is kept. */
  readonly remembers: boolean;
  /** Called with what a process leaves behind in its termination message file. */
  readonly onTerminationMessage: (container: SimulatedContainer, text: string) => void;
}

/** The node itself: processes live and end here in RxJS's time, whoever is subscribed to whatever. */
export interface Machine {
  readonly sandboxes: ReadonlyMap<string, SimulatedSandbox>;
  readonly containers: ReadonlyMap<string, SimulatedContainer>;
  /** The containers of a sandbox. */
  readonly inSandbox: (sandboxId: string) => readonly SimulatedContainer[];
  /** The sandboxes with the UID of a pod. */
  readonly ofPod: (uid: string) => readonly SimulatedSandbox[];
  readonly history: readonly Happening[];
  /** How many addresses were given out. */
  readonly addresses: () => number;
  readonly happening$: Observable<Happening>;
  /** Emits whenever anything is other than it was. */
  readonly change$: Observable<unknown>;
  readonly scriptOf: (id: string) => ProcessScript;
  readonly addSandbox: (config: PodSandboxConfig, runtimeHandler: string) => SimulatedSandbox;
  /** Its own process ends; containers in it go on. */
  readonly stopSandbox: (id: string) => void;
  readonly removeSandbox: (id: string) => void;
  readonly addContainer: (sandboxId: string, config: ContainerConfig, imageRef: string) => SimulatedContainer;
  readonly start: (id: string) => void;
  readonly failStart: (id: string, message: string) => void;
  /** Sends SIGTERM. */
  readonly terminate: (id: string) => void;
  /** Ends the process of a container now; nothing happens when it does not run. */
  readonly exit: (id: string, code: number, reason?: string) => void;
  readonly update: (id: string, resources: LinuxContainerResources) => void;
  readonly removeContainer: (id: string) => void;
  /** Emits once, when the container does not run (any more), and completes. */
  readonly whenEnded: (id: string) => Observable<unknown>;
}

const POLITE = { after: 10, code: 0 };

/** Exit code of a process that was killed (128 + SIGKILL), and of one that could not be started. */
export const KILLED = 137;
const NOT_STARTED = 128;

export function machine(options: MachineOptions): Machine {
  const { random, behaviour, logs, from, remembers, onTerminationMessage } = options;
  const sandboxes = new Map(from.sandboxes.map((sandbox) => [sandbox.id, sandbox]));
  const containers = new Map(from.containers.map((container) => [container.id, container]));
  const scripts = new Map<string, ProcessScript>();
  /** Ids of containers by sandbox, and of sandboxes by the UID of the pod. */
  const within = new Map<string, Set<string>>();
  const byPod = new Map<string, Set<string>>();
  /** What is planned for each process; gone with the process. */
  const plans = new Map<string, Subscription>();
  const history: Happening[] = [];
  const happenings = new Subject<Happening>();
  const updates = new Subject<undefined>();
  let moments = 0;
  let { addresses } = from;

  function moment(): number {
    moments += 1;
    return asyncScheduler.now() * 1e6 + moments;
  }

  function happen(kind: Happening['kind'], sandbox: SimulatedSandbox, container?: SimulatedContainer): void {
    const happening = { at: asyncScheduler.now(), kind, sandbox, ...(container && { container }) };
    if (remembers) history.push(happening);
    happenings.next(happening);
  }

  function change(id: string, kind: Happening['kind'], changed: Partial<SimulatedContainer>): void {
    const before = containers.get(id);
    const sandbox = before && sandboxes.get(before.sandboxId);
    if (!before || !sandbox) return;
    const after = { ...before, ...changed };
    containers.set(id, after);
    happen(kind, sandbox, after);
  }

  function plan(id: string, after: number, act: () => void): void {
    plans.set(id, plans.get(id) ?? new Subscription());
    plans.get(id)?.add(asyncScheduler.schedule(act, Math.max(0, after)));
  }

  function planExit(id: string, after: number, code: number, reason?: string): void {
    plan(id, after, () => {
      exit(id, code, reason);
    });
  }

  /** All that the process will do from `age` milliseconds after its start on. */
  function planLife(id: string, age: number): void {
    const { exits, prints = [] } = scriptOf(id);
    for (const print of prints) {
      if (print.after >= age) {
        plan(id, print.after - age, () => {
          const container = containers.get(id);
          if (container) logs.print(container, sandboxes.get(container.sandboxId), print);
        });
      }
    }
    if (exits) planExit(id, exits.after - age, exits.code, exits.reason);
  }

  function index(ids: Map<string, Set<string>>, key: string, id: string): void {
    const known = ids.get(key);
    if (known) known.add(id);
    else ids.set(key, new Set([id]));
  }

  function unindex(ids: Map<string, Set<string>>, key: string, id: string): void {
    const known = ids.get(key);
    known?.delete(id);
    if (known?.size === 0) ids.delete(key);
  }

  function forget(id: string): void {
    plans.get(id)?.unsubscribe();
    plans.delete(id);
  }

  function addSandbox(config: PodSandboxConfig, runtimeHandler: string): SimulatedSandbox {
    const onHost = config.linux?.securityContext?.namespaceOptions?.network === 'NODE';
    const address = onHost ? {} : { ip: addressOf((addresses += 1)) };
    const id = randomHex(random, 64);
    const sandbox = { id, config, state: 'ready' as const, createdAt: moment(), runtimeHandler, ...address };
    sandboxes.set(id, sandbox);
    index(byPod, uidOf(sandbox), id);
    happen('created', sandbox);
    happen('started', sandbox);
    return sandbox;
  }

  function stopSandbox(id: string): void {
    const sandbox = sandboxes.get(id);
    if (sandbox?.state !== 'ready') return;
    const stopped = { ...sandbox, state: 'notReady' as const };
    sandboxes.set(id, stopped);
    happen('exited', stopped);
  }

  function removeSandbox(id: string): void {
    const sandbox = sandboxes.get(id);
    if (!sandbox) return;
    sandboxes.delete(id);
    unindex(byPod, uidOf(sandbox), id);
    happen('removed', sandbox);
  }

  function addContainer(sandboxId: string, config: ContainerConfig, imageRef: string): SimulatedContainer {
    const container: SimulatedContainer = {
      id: randomHex(random, 64),
      sandboxId,
      config,
      imageRef,
      state: 'created',
      createdAt: moment(),
      startedAt: 0,
      finishedAt: 0,
      exitCode: 0,
      reason: '',
      message: '',
      resources: config.linux?.resources ?? {},
    };
    containers.set(container.id, container);
    index(within, sandboxId, container.id);
    scripts.set(container.id, behaviour(introduce(container, sandboxes.get(sandboxId))));
    change(container.id, 'created', {});
    return container;
  }

  function start(id: string): void {
    change(id, 'started', { state: 'running', startedAt: moment() });
    const container = containers.get(id);
    if (container) logs.open(container, sandboxes.get(container.sandboxId));
    planLife(id, 0);
  }

  function failStart(id: string, message: string): void {
    const at = moment();
    change(id, 'exited', { state: 'exited', finishedAt: at, exitCode: NOT_STARTED, reason: 'StartError', message });
  }

  function terminate(id: string): void {
    const { onTerm = POLITE } = scriptOf(id);
    if (onTerm !== 'ignored' && containers.get(id)?.state === 'running') planExit(id, onTerm.after, onTerm.code);
  }

  function exit(id: string, exitCode: number, reason: string = exitCode === 0 ? 'Completed' : 'Error'): void {
    const container = containers.get(id);
    if (container?.state !== 'running') return;
    forget(id);
    const { terminationMessage } = scriptOf(id);
    if (terminationMessage !== undefined) onTerminationMessage(container, terminationMessage);
    change(id, 'exited', { state: 'exited', finishedAt: moment(), exitCode, reason });
  }

  function update(id: string, resources: LinuxContainerResources): void {
    const container = containers.get(id);
    if (!container) return;
    containers.set(id, { ...container, resources: { ...container.resources, ...resources } });
    updates.next(undefined);
  }

  function removeContainer(id: string): void {
    exit(id, KILLED);
    const container = containers.get(id);
    const sandbox = container && sandboxes.get(container.sandboxId);
    containers.delete(id);
    scripts.delete(id);
    if (container) unindex(within, container.sandboxId, id);
    if (container && sandbox) happen('removed', sandbox, container);
  }

  function whenEnded(id: string): Observable<unknown> {
    if (containers.get(id)?.state !== 'running') return of(undefined);
    return happenings.pipe(
      filter(({ kind, container }) => container?.id === id && (kind === 'exited' || kind === 'removed')),
      take(1),
    );
  }

  function scriptOf(id: string): ProcessScript {
    return scripts.get(id) ?? {};
  }

  for (const sandbox of from.sandboxes) index(byPod, uidOf(sandbox), sandbox.id);
  for (const container of from.containers) {
    index(within, container.sandboxId, container.id);
    scripts.set(container.id, behaviour(introduce(container, sandboxes.get(container.sandboxId))));
    if (container.state === 'running')
      planLife(container.id, asyncScheduler.now() - Math.floor(container.startedAt / 1e6));
  }
  return {
    sandboxes,
    containers,
    inSandbox: (id) => [...(within.get(id) ?? [])].flatMap((each) => containers.get(each) ?? []),
    ofPod: (uid) => [...(byPod.get(uid) ?? [])].flatMap((each) => sandboxes.get(each) ?? []),
    history,
    addresses: () => addresses,
    happening$: happenings.asObservable(),
    change$: merge(happenings, updates),
    scriptOf,
    addSandbox,
    stopSandbox,
    removeSandbox,
    addContainer,
    start,
    failStart,
    terminate,
    exit,
    update,
    removeContainer,
    whenEnded,
  };
}

function introduce({ id, config }: SimulatedContainer, sandbox: SimulatedSandbox | undefined): StartingContainer {
  const { name = '', namespace = '', uid = '' } = sandbox?.config.metadata ?? {};
  const { metadata } = config;
  return { id, name: metadata?.name ?? '', attempt: metadata?.attempt ?? 0, pod: { name, namespace, uid }, config };
}

function uidOf({ config }: SimulatedSandbox): string {
  return config.metadata?.uid ?? '';
}

/** 10.88.0.1, 10.88.0.2, ... */
function addressOf(n: number): string {
  return `10.88.${String(Math.floor(n / 254) % 256)}.${String((n % 254) + 1)}`;
}
