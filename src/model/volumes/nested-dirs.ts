import { allContainers } from '../containers.ts';
import type { PodSpec } from '../pod.ts';

/**
 * Directories that other mounts need inside of a volume: where a container mounts one volume at `/etc/app` and another
 * at `/etc/app/tls`, the first one must have `tls`. Relative to the volume, sorted, each once. The runtime could not
 * make them in a volume that is read-only.
 */
export function nestedDirs(spec: PodSpec, volume: string): readonly string[] {
  const dirs = allContainers(spec).flatMap(({ volumeMounts = [] }) => {
    const places = volumeMounts.map((mount) => ({ ...mount, names: namesOf(mount.mountPath) }));
    return places
      .filter(({ name, subPath, subPathExpr }) => name === volume && !subPath && !subPathExpr)
      .flatMap((outer) =>
        places
          .filter((inner) => inner !== outer && isBelow(inner.names, outer.names))
          .map((inner) => inner.names.slice(outer.names.length).join('/')),
      );
  });
  return [...new Set(dirs)].filter((dir) => !dir.startsWith('..')).sort();
}

function isBelow(names: readonly string[], above: readonly string[]): boolean {
  return names.length > above.length && above.every((name, index) => names[index] === name);
}

/** The names of a path with `.` and `..` resolved. */
function namesOf(path: string): readonly string[] {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names;
}
