import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PodStatus } from '../../../src/model/pod.ts';
import { podJson, type PodDraft } from './pod-json.ts';
import type { TestNode } from './test-node.ts';
import { until } from './until.ts';

export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** One pod of a test: its manifest, what its containers note in a folder that they share with the test, and its status. */
export interface Story {
  /** Writes the manifest of the pod, which sees the shared folder as `/node`. */
  readonly tell: (draft: Omit<PodDraft, 'name' | 'folder'>) => void;
  readonly remove: () => void;
  /** The lines of a file in the shared folder; none where nobody wrote one. */
  readonly lines: (file?: string) => readonly string[];
  /** Resolves once the notes hold such a line as often as said. */
  readonly whenNoted: (line: string, times?: number) => Promise<void>;
  /** Makes an empty file in the shared folder: containers wait for it with {@link waitFor}. */
  readonly open: (gate: string) => void;
  /** Resolves to the first status that is as wished. */
  readonly when: (what: string, accept: (status: PodStatus) => boolean) => Promise<PodStatus>;
}

/** Shell text that adds a line to the notes. */
export function note(line: string): string {
  return `echo "${line}" >> /node/notes`;
}

/** Shell text that goes on once the test has opened the gate. */
export function waitFor(gate: string): string {
  return `until [ -e /node/${gate} ]; do sleep 0.3; done`;
}

/** Shell text that goes on once a container of the pod has noted such a line. */
export function whenNotes(line: string): string {
  return `until grep -qs "${line}" /node/notes; do sleep 0.1; done`;
}

/** Shell text that does something first, and then as {@link untilAsked}; it can be asked from the start. */
export function lives(first: string, last = ':'): string {
  return `trap '${last}; exit 0' TERM; ${first}; while :; do sleep 3600 & wait; done`;
}

/** Shell text that answers each line that it is told, until the line `that is all`. */
export const ECHO = 'while read -r line; do [ "$line" = "that is all" ] && exit 0; echo "heard $line"; done';

/** Shell text that runs until it is asked to end, and does something before it does. */
export function untilAsked(last = ':'): string {
  return lives(':', last);
}

export function tellStory(node: TestNode, name: string): Story {
  const folder = join(node.paths.manifests, '..', `folder-${name}`);
  mkdirSync(folder, { recursive: true });
  const file = `${name}.yaml`;
  function lines(of = 'notes'): readonly string[] {
    const path = join(folder, of);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  }
  return {
    tell(draft) {
      node.dropManifest(file, podJson({ name, folder, ...draft }));
    },
    remove() {
      node.removeManifest(file);
    },
    lines,
    async whenNoted(line, times = 1) {
      await until(
        `${name} to note "${line}" ${times} times`,
        () => lines().filter((one) => one === line).length >= times,
      );
    },
    open(gate) {
      writeFileSync(join(folder, gate), '');
    },
    async when(what, accept) {
      let last: PodStatus | undefined;
      try {
        return await until(`${name}: ${what}`, async () => {
          last = (await node.pod(name))?.status;
          return last && accept(last) && last;
        });
      } catch (error: unknown) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${reason}; the last status: ${JSON.stringify(last)}`, { cause: error });
      }
    },
  };
}

export function statusOf(
  { containerStatuses, initContainerStatuses }: PodStatus,
  container: string,
): ContainerStatus | undefined {
  return [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].find(({ name }) => name === container);
}

/** `True`, `False` or nothing where the pod has no such condition. */
export function conditionOf({ conditions = [] }: PodStatus, type: string): string | undefined {
  return conditions.find((condition) => condition.type === type)?.status;
}
