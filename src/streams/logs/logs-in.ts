import { containerLogPath, podLogDir, type NodePaths } from '../../model/paths.ts';
import type { PodBook } from '../book/pod-book.ts';

/** The log of a container's newest instance. */
export interface ContainerLog {
  readonly file: string;
  readonly containerId: string;
  readonly running: boolean;
  /** 0: the folder can hold nothing of an instance before it. */
  readonly attempt: number;
}

/** By the folder that a container has for the logs of all of its instances. */
export function logsIn({ entries }: PodBook, paths: Pick<NodePaths, 'podLogsDir'>): ReadonlyMap<string, ContainerLog> {
  const logs = new Map<string, ContainerLog>();
  for (const { of: identity, observed } of entries.values()) {
    for (const { id: containerId, name, attempt, state } of observed?.containers ?? []) {
      const path = `${podLogDir(paths, identity)}/${containerLogPath(name, attempt)}`;
      const slash = path.lastIndexOf('/');
      const [folder, file] = [path.slice(0, slash), path.slice(slash + 1)];
      if ((logs.get(folder)?.attempt ?? -1) >= attempt) continue;
      logs.set(folder, { file, containerId, attempt, running: state === 'running' });
    }
  }
  return logs;
}
