import type { AdmissionNode } from '../model/admission/admission-node.ts';
import { allocatable } from '../model/admission/allocatable.ts';
import { nodeLabels } from '../model/admission/node-labels.ts';
import type { RunConfig } from '../model/config/run-config.ts';
import { parallelPulls } from '../model/images/parallel-pulls.ts';
import type { NodeFacts } from '../model/node-facts.ts';
import type { NodePaths } from '../model/paths.ts';
import type { Machine } from '../host/machine/machine.ts';
import { knownEnds } from '../runtime/cri/known-ends.ts';
import { imageService } from '../runtime/images/image-service.ts';
import { meterImages } from '../runtime/images/meter-images.ts';
import { observer } from '../runtime/observe.ts';
import type { RuntimeFacts } from '../runtime/runtime-facts.ts';
import type { RuntimeFeatures } from '../runtime/runtime-features.ts';
import { runtimeHints } from '../runtime/runtime-hints.ts';
import { revisions } from '../streams/pleg/revisions.ts';
import type { Credentials } from '../streams/ports/credentials.ts';
import type { Edges } from './edges.ts';

/** The ways to act on one node, be it a real or a simulated one. */
export interface NodePorts
  extends
    Pick<
      Edges['context'],
      | 'cri'
      | 'forgetTask'
      | 'cgroups'
      | 'files'
      | 'mounts'
      | 'volumeFiles'
      | 'userNamespaces'
      | 'monotonic'
      | 'random'
      | 'http'
    >,
    Pick<Edges, 'probe' | 'meter' | 'trace' | 'tape'> {
  /** Events of the runtime's own, for those that have none of the CRI. */
  readonly taskHints: Parameters<typeof runtimeHints>[1];
  readonly credentials: Credentials;
}

/** Milliseconds. */
const FIRST_BACKOFF = 10_000;
const RETRY_PERIOD = 10_000;

/** What the agent needs of its node, by the ports to it and by what it was configured with. */
export function edgesOf(
  run: RunConfig,
  paths: NodePaths,
  facts: NodeFacts,
  { probe, taskHints, credentials, meter, trace, tape, ...ports }: NodePorts,
): Pick<Edges, 'context' | 'observer' | 'probe' | 'hint$' | 'listening$' | 'meter' | 'trace' | 'tape'> {
  const { config } = run;
  const { cri, files } = ports;
  const counter = revisions();
  const ends = knownEnds();
  const seen = ends.over(cri);
  const look = observer(tape?.port('cri', seen) ?? seen, tape?.port('files', files) ?? files, counter, facts.hostIps);
  const context: Edges['context'] = {
    ...ports,
    config,
    facts,
    rules: {
      cpuCFSQuota: config.cpuCFSQuota,
      cpuPeriodMicroseconds: config.cpuCFSQuotaPeriod * 1_000,
      memoryCapacity: facts.memoryCapacity,
      hugePageSizes: facts.hugePageSizes,
      cgroupV2: facts.cgroupV2,
      swapController: facts.swapController,
      singleProcessOomKill: config.singleProcessOOMKill ?? !facts.cgroupV2,
    },
    paths,
    backoff: { initial: FIRST_BACKOFF, ceiling: config.crashLoopBackOff.maxContainerRestartPeriod },
    retryPeriod: RETRY_PERIOD,
    resyncPeriod: config.syncFrequency,
    revisions: counter,
    trace,
    images: meterImages(
      imageService(cri, credentials, {
        parallel: parallelPulls(config),
        perSecond: config.registryPullQPS,
        burst: config.registryBurst,
      }),
      meter,
    ),
  };
  return { meter, trace, tape, context, observer: look, probe, ...runtimeHints(cri, taskHints, look, ends.heard) };
}

/** What is known of the node once its machine and its runtime have told of themselves. */
export function nodeFacts(
  run: RunConfig,
  hardware: Machine,
  runtime: RuntimeFacts & Pick<RuntimeFeatures, 'recursiveReadOnly'>,
): NodeFacts {
  const amounts = Object.entries(allocatable(hardware.capacity, run.config));
  return {
    nodeName: run.nodeName,
    hostIps: hostIpsOf(run, hardware),
    allocatable: Object.fromEntries(amounts.map(([name, n]) => [name, name === 'cpu' ? `${n}m` : `${n}`])),
    ...hardware,
    ...runtime,
  };
}

export function hostIpsOf({ nodeIps }: RunConfig, { addresses }: Machine): readonly string[] {
  return nodeIps.length > 0 ? nodeIps : addresses.slice(0, 1);
}

/** By what the node judges pods. */
export function admissionNode(
  { config, nodeName, nodeLabels: configured }: RunConfig,
  { capacity, appArmor }: Machine,
  { supplementalGroupsPolicy }: RuntimeFeatures,
): AdmissionNode {
  return {
    nodeName,
    labels: nodeLabels(nodeName, process.arch, configured),
    taints: config.registerWithTaints,
    allocatable: allocatable(capacity, config),
    appArmor,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    supplementalGroupsPolicy,
  };
}
