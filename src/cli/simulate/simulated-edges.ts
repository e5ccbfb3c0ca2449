import { NEVER, of } from 'rxjs';
import type { RunConfig } from '../../model/config/run-config.ts';
import type { NodePaths } from '../../model/paths.ts';
import type { Machine } from '../../host/machine/machine.ts';
import { meterCalls } from '../../runtime/cri/meter-calls.ts';
import { NO_CREDENTIALS } from '../../runtime/images/image-service.ts';
import { userNamespaces } from '../../runtime/user-namespaces.ts';
import type { SimulatedNode, World } from '../../simulation/simulated-node.ts';
import type { Checkpoint } from '../../streams/checkpoints/checkpoints.ts';
import { checkpointStore } from '../checkpoint-store.ts';
import type { Edges } from '../edges.ts';
import { admissionNode, edgesOf, hostIpsOf, nodeFacts, type NodePorts } from '../edges-of.ts';

/** What is around the runtime and the disk of a simulated node. */
export interface Surroundings extends Pick<NodePorts, 'monotonic' | 'random' | 'http' | 'meter' | 'trace' | 'tape'> {
  readonly machine: Machine;
  /** Asks a container; given how it is asked through the runtime. */
  readonly probe: (cri: NodePorts['cri']) => NodePorts['probe'];
}

const RUNTIME = { runtimeName: 'simulated', runtimeVersion: '1.0.0' };
const LINKS = '/var/log/containers';

/** A simulated node as the agent gets it: the same that it gets of a real one, with the same configuration. */
export function simulatedEdges(
  run: RunConfig,
  { cri: unmeasured, files, mounts, volumeFiles, world }: SimulatedNode,
  { machine, monotonic, random, http, probe, meter, trace, tape }: Surroundings,
): Edges {
  const { config, rootDir } = run;
  const paths: NodePaths = { rootDir, podLogsDir: config.podLogsDir, containerLinksDir: LINKS };
  const cri = meterCalls(unmeasured, meter);
  const features = { recursiveReadOnly: new Set<string>(), supplementalGroupsPolicy: false };
  const state = `${rootDir}/state`;
  return {
    ...edgesOf(run, paths, nodeFacts(run, machine, { ...features, ...RUNTIME, cgroupDriver: config.cgroupDriver }), {
      cri,
      files,
      mounts,
      volumeFiles,
      userNamespaces: userNamespaces({
        files,
        paths,
        maxPods: config.maxPods,
        idsPerPod: config.userNamespaces.idsPerPod,
      }),
      monotonic,
      random,
      http,
      probe: probe(cri),
      credentials: NO_CREDENTIALS,
      taskHints: () => NEVER,
      meter,
      trace,
      tape,
    }),
    hostIps: hostIpsOf(run, machine),
    admission: admissionNode(run, machine, features),
    checkpoints: checkpointStore(state, files),
    kept: keptOn(world, state),
    localUsage: { tree: volumeFiles.usage, layers: () => of(new Map()) },
  };
}

/** What an agent that starts now reads back; the disk of the simulated node answers at once here. */
function keptOn({ disk }: World, folder: string): readonly Checkpoint[] {
  if (disk.typeOf(folder) === 'missing') return [];
  return disk.list(folder).map((name) => JSON.parse(disk.readFile(`${folder}/${name}`) ?? '') as Checkpoint);
}
