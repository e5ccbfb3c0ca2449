import { EMPTY, map, timer, type Observable } from 'rxjs';
import { assertNever } from '../../model/errors.ts';
import { emptyDirPath, type NodePaths } from '../../model/paths.ts';
import type { PodCommand } from '../../model/pod-command.ts';
import type { PodUid } from '../../model/pod.ts';
import type { SimulatedContainer, SimulatedSandbox } from '../../simulation/node-objects.ts';
import type { World } from '../../simulation/simulated-node.ts';
import { isAbout } from './behaviour.ts';
import type { ManifestFolder } from './manifest-folder.ts';
import type { Act, FaultRule, Whose } from './script.ts';

/** What steps act on. */
export interface Stage {
  readonly world: World;
  readonly folder: ManifestFolder;
  /** Where a manifest of a name is put that is not there yet. */
  readonly pathOf: (name: string) => string;
  readonly nodeName: string;
  readonly paths: Pick<NodePaths, 'rootDir'>;
  readonly addFault: (rule: FaultRule) => void;
  readonly setAgent: (isUp: boolean) => void;
  readonly setClock: (by: number) => void;
  /** Asks the agent that runs, as `rxlet stop` does; tells why it was not heard. */
  readonly command: (command: PodCommand) => string | undefined;
}

/** What came of a step: at once why it had no effect, and what is to be done later. */
export interface Performed {
  readonly problem?: string;
  /** Emits what is to be done when its time comes. */
  readonly later$: Observable<() => void>;
}

/** Does what a step of a script says. */
export function performStep(act: Act, stage: Stage): Performed {
  const { world, folder } = stage;
  switch (act.do) {
    case 'addManifest':
      folder.put(folder.find(act.as)?.path ?? stage.pathOf(act.as), act.content);
      return DONE;
    case 'editManifest': {
      const file = folder.find(act.file);
      if (!file || !('text' in file.content)) return missing(act.file);
      const { text } = file.content;
      if (!text.includes(act.replace)) return noEffect(`there is no ${JSON.stringify(act.replace)} in ${act.file}`);
      folder.put(file.path, text.replaceAll(act.replace, act.with));
      return DONE;
    }
    case 'removeManifest': {
      const file = folder.find(act.file);
      if (!file) return missing(act.file);
      folder.remove(file.path);
      return DONE;
    }
    case 'exitContainer': {
      const victims = world.running().filter((one) => isTheirs(one, act, stage));
      for (const { id } of victims) world.exit(id, act.code, act.reason);
      return victims.length > 0 ? DONE : noEffect('no such container runs');
    }
    case 'killSandbox': {
      const victims = sandboxesOf(act, stage).filter(({ state }) => state === 'ready');
      for (const { id } of victims) world.killSandbox(id);
      return victims.length > 0 ? DONE : noEffect('no such pod has a sandbox');
    }
    case 'commandPod':
      return commandPod(act, stage);
    case 'fillVolume':
      return fillVolume(act, stage);
    case 'fault':
      stage.addFault(act);
      return DONE;
    case 'restartRuntime':
      world.stopRuntime();
      if (act.loseSandboxes) world.wipeRuntime();
      return after(act.for, world.startRuntime);
    case 'reboot':
      world.reboot();
      return DONE;
    case 'cutEvents':
      world.cutEvents();
      return DONE;
    case 'crashAgent':
      stage.setAgent(false);
      return after(act.for, () => {
        stage.setAgent(true);
      });
    case 'disk':
      world.disk.setState(act.state);
      return after(act.for, () => {
        world.disk.setState('ok');
      });
    case 'networkDown':
      world.setNetworkReady(false);
      return after(act.for, () => {
        world.setNetworkReady(true);
      });
    case 'setClock':
      stage.setClock(act.by);
      return DONE;
    default:
      return assertNever(act);
  }
}

const DONE: Performed = { later$: EMPTY };

function noEffect(problem: string): Performed {
  return { problem, later$: EMPTY };
}

function missing(file: string): Performed {
  return noEffect(`there is no manifest ${file}`);
}

/** Without a time it stays as it is. */
function after(milliseconds: number | undefined, act: () => void): Performed {
  return milliseconds === undefined ? DONE : { later$: timer(milliseconds).pipe(map(() => act)) };
}

function sandboxesOf({ container: _, ...whose }: Whose, { world, nodeName }: Stage): readonly SimulatedSandbox[] {
  return world.sandboxes().filter(({ config: { metadata = {} } }) => {
    const { name: pod = '', namespace = '' } = metadata;
    return isAbout(whose, { pod, namespace }, nodeName);
  });
}

function isTheirs({ sandboxId, config }: SimulatedContainer, whose: Whose, stage: Stage): boolean {
  const isOfPod = sandboxesOf(whose, stage).some(({ id }) => id === sandboxId);
  return isOfPod && (whose.container === undefined || whose.container === config.metadata?.name);
}

function commandPod({ verb, ...whose }: Extract<Act, { do: 'commandPod' }>, stage: Stage): Performed {
  const { pod = '', namespace = 'default' } = whose;
  const name = pod.endsWith(`-${stage.nodeName}`) ? pod : `${pod}-${stage.nodeName}`;
  const problem = stage.command({ verb, namespace, name });
  return problem === undefined ? DONE : noEffect(problem);
}

function fillVolume({ volume, size, ...whose }: Extract<Act, { do: 'fillVolume' }>, stage: Stage): Performed {
  const { disk } = stage.world;
  const paths: NodePaths = { ...stage.paths, podLogsDir: '', containerLinksDir: '' };
  const folders = sandboxesOf(whose, stage)
    .map(({ config }) => emptyDirPath(paths, (config.metadata?.uid ?? '') as PodUid, volume))
    .filter((folder) => disk.typeOf(folder) === 'directory');
  for (const folder of folders) disk.put(`${folder}/filled`, { type: 'file', mode: 0o644, content: 'x'.repeat(size) });
  return folders.length > 0 ? DONE : noEffect(`there is no emptyDir ${volume} on the node`);
}
