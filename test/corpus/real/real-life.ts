import type { ContainerConfig, PodSandboxConfig } from '../../../src/model/cri/api.ts';
import type { Problem } from '../../../src/model/desired.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';
import type { RuntimeLook } from '../../e2e/harness/runtime-look.ts';
import { decodeCase } from '../compare-spec.ts';
import type { CaseLife, Sight } from '../live-case.ts';
import type { CorpusCase } from '../record.ts';

interface Made<T> {
  readonly id: string;
  readonly createdAt: number;
  readonly config: T;
}

/** Everything that a runtime was seen to make, also what is gone by now. */
export interface Seen {
  readonly sandboxes: Map<string, Made<PodSandboxConfig>>;
  readonly containers: Map<string, Made<ContainerConfig> & { readonly sandboxId: string }>;
}

/** Looks at what is new in the runtime. What goes away between two looks, or during one, was never seen. */
export async function lookForNew(runtime: RuntimeLook, { sandboxes, containers }: Seen): Promise<void> {
  for (const { id, createdAt } of await runtime.sandboxes()) {
    if (sandboxes.has(id)) continue;
    const config = await ifThere(runtime.askedForSandbox(id));
    if (config) sandboxes.set(id, { id, createdAt, config });
  }
  for (const { id, createdAt, sandboxId } of await runtime.containers()) {
    if (containers.has(id)) continue;
    const config = await ifThere(runtime.askedForContainer(id));
    if (config) containers.set(id, { id, createdAt, config, sandboxId });
  }
}

async function ifThere<T>(answer: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}

/** The names of all pods that a case is about. */
export function podNamesOf(corpusCase: CorpusCase): ReadonlySet<string> {
  const { record } = corpusCase;
  const recorded = [record, ...(record.others ?? [])].flatMap(({ pod }) => (pod ? [pod.metadata] : []));
  const decoded = decodeCase(corpusCase).pods.map(({ metadata }) => metadata);
  return new Set([...recorded, ...decoded].map(({ namespace, name }) => `${namespace}/${name}`));
}

export interface RealCase {
  readonly corpusCase: CorpusCase;
  readonly names: ReadonlySet<string>;
  readonly problems: Map<string, Problem>;
  /** What was seen of its pods until now. */
  readonly former: Sight[];
}

/** What a real agent and a real runtime made of one case, as the simulated life tells it. */
export function lifeOf(
  { corpusCase, names, problems, former }: RealCase,
  seen: Seen,
  view: NodeView,
  tagById: ReadonlyMap<string, string>,
): CaseLife {
  const nameOf = (config: PodSandboxConfig): string =>
    `${config.metadata?.namespace ?? ''}/${config.metadata?.name ?? ''}`;
  const sandboxes = inOrder([...seen.sandboxes.values()].filter(({ config }) => names.has(nameOf(config))));
  const containers = inOrder(
    [...seen.containers.values()].filter(({ sandboxId }) => sandboxes.some(({ id }) => id === sandboxId)),
  );
  const sandboxOf = new Map(sandboxes.map(({ id, config }) => [id, config]));
  const pods = view.pods.filter(({ pod: { metadata } }) => names.has(`${metadata.namespace}/${metadata.name}`));
  return {
    sandboxes: sandboxes.map(({ config }) => ({ at: 0, request: { config } })),
    containers: containers.map(({ config, sandboxId }) => {
      const sandboxConfig = sandboxOf.get(sandboxId);
      return { at: 0, request: { config, ...(sandboxConfig && { sandboxConfig }) } };
    }),
    stops: [],
    execs: [],
    // What was before may explain it; what is now counts as of the moment at which the recording was made.
    sights: [...former, { at: 0, pods }, { at: corpusCase.record.removedAt * 1_000, pods }],
    problems: [...problems.values()],
    containerNames: new Map(
      containers.map(({ id, config: { metadata } }) => {
        const { name = '', attempt = 0 } = metadata ?? {};
        return [id, attempt === 0 ? name : `${name}#${attempt}`];
      }),
    ),
    containerPods: new Map(containers.map(({ id, sandboxId }) => [id, nameOf(sandboxOf.get(sandboxId) ?? {})])),
    tagById,
    failures: [],
    unknownSteps: [],
  };
}

function inOrder<T extends { readonly createdAt: number }>(things: readonly T[]): readonly T[] {
  return things.toSorted((a, b) => a.createdAt - b.createdAt);
}
