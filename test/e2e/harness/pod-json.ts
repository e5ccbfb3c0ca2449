import type { Container, PodSpec } from '../../../src/model/pod.ts';

/** What a test says of a container; the image is busybox where it names none. */
type ContainerDraft = Partial<Container> & Pick<Container, 'name'>;

export interface PodDraft extends Omit<Partial<PodSpec>, 'containers' | 'initContainers'> {
  readonly name: string;
  /** Given to the pod as it is, where the test wants one that edits do not change. */
  readonly uid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly initContainers?: readonly ContainerDraft[];
  readonly containers: readonly ContainerDraft[];
  /** A folder of the node that every container sees as `/node`. */
  readonly folder?: string;
}

export const BUSYBOX = 'docker.io/library/busybox:1.35';

/** A container that runs shell text. */
export function shell(name: string, run: string, more: Partial<Container> = {}): ContainerDraft {
  return { name, command: ['sh', '-c', run], ...more };
}

/** A manifest as JSON, which is YAML too. Pods get ten seconds of grace where the test says nothing. */
export function podJson({
  name,
  uid,
  annotations,
  folder,
  initContainers,
  containers,
  volumes = [],
  ...spec
}: PodDraft): string {
  const settle = (drafts: readonly ContainerDraft[]): readonly Container[] =>
    drafts.map((draft) => ({
      image: BUSYBOX,
      ...(folder === undefined ? {} : { volumeMounts: [{ name: 'folder', mountPath: '/node' }] }),
      ...draft,
    }));
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, uid, annotations },
      spec: {
        terminationGracePeriodSeconds: 10,
        ...spec,
        ...(initContainers && { initContainers: settle(initContainers) }),
        containers: settle(containers),
        volumes: [
          ...volumes,
          ...(folder === undefined ? [] : [{ name: 'folder', hostPath: { path: folder, type: 'Directory' } }]),
        ],
      },
    },
    undefined,
    2,
  );
}
