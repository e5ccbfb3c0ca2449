import type { NodePaths } from '../../model/paths.ts';

/**
 * Tells the few paths that are looked at while the agent waits, and not by a thread of Node: what the agent keeps of a
 * pod beside its volumes, and the node's resolver file. A look takes some microseconds, since the kernel still has them
 * in memory; on a busy machine the way to a thread and back takes milliseconds, and the start of a container had
 * two dozen of them. Nothing of volumes: a file system that hangs may be mounted there.
 */
export function atHandIn(
  { rootDir, podLogsDir }: Pick<NodePaths, 'rootDir' | 'podLogsDir'>,
  resolvConf: string,
): (path: string) => boolean {
  const pods = `${rootDir}/pods/`;
  const logs = `${podLogsDir}/`;
  return (path) => {
    if (path.startsWith(pods)) return OF_A_POD.test(path.slice(pods.length));
    return path === resolvConf || (path.startsWith(logs) && OF_LOGS.test(path.slice(logs.length)));
  };
}

/** The pod's folder, its hosts file, folders of which only the names count, and the files of termination messages. */
const OF_A_POD = /^[^/]+(?:\/(?:etc-hosts|volumes|plugins|containers(?:\/[^/]+){0,2}))?$/;
/** The folders of a pod and of its containers. */
const OF_LOGS = /^[^/]+(?:\/[^/]+)?$/;
