import { map, of, switchMap, throwError, type Observable } from 'rxjs';
import type { RuntimeHandler, UserNamespace } from '../model/cri/api.ts';
import { kernelName } from '../model/hostname.ts';
import type { Pod } from '../model/pod.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { UserNamespaces } from './user-namespaces.ts';

/** What of a sandbox is not in the pod's own spec. */
export interface SandboxNeeds {
  /** Name of the runtime's handler; empty for its default one. */
  readonly runtimeHandler: string;
  /** Absent where the pod shares the node's users. */
  readonly userNamespace?: UserNamespace;
}

interface Ground {
  readonly cri: Pick<Cri, 'status'>;
  readonly userNamespaces: UserNamespaces;
  readonly config: { readonly clusterDomain: string };
}

const NOTHING_SPECIAL: SandboxNeeds = { runtimeHandler: '' };

/**
 * Finds out what the sandbox of a pod needs, and whether it can have that. Emits once and completes; errors with the
 * kubelet's message where it cannot: the pod waits, and is tried again.
 *
 * `runtimeClassName` names a handler of the runtime: without an API server there are no RuntimeClass objects that could
 * say more. (The kubelet on its own crashes on one.)
 */
export function sandboxNeeds(pod: Pod, { cri, userNamespaces, config }: Ground): Observable<SandboxNeeds> {
  const { runtimeClassName = '', hostUsers } = pod.spec;
  const name = kernelName(pod, config.clusterDomain);
  if (name.kind === 'tooLong') return throwError(() => new Error(name.message));
  if (runtimeClassName === '' && hostUsers !== false) return of(NOTHING_SPECIAL);

  return cri.status().pipe(
    switchMap(({ runtimeHandlers = [] }): Observable<SandboxNeeds> => {
      const handler = runtimeHandlers.find((each) => (each.name ?? '') === runtimeClassName);
      const problem =
        handlerProblem(runtimeClassName, runtimeHandlers) ?? (hostUsers === false ? usersProblem(handler) : undefined);
      if (problem !== undefined) return throwError(() => new Error(problem));
      if (hostUsers !== false) return of({ runtimeHandler: runtimeClassName });
      return userNamespaces(pod.metadata.uid).pipe(
        map((userNamespace) => ({ runtimeHandler: runtimeClassName, userNamespace })),
      );
    }),
  );
}

/** A runtime that lists no handlers (containerd before 2.0) is asked by trying. */
function handlerProblem(name: string, handlers: readonly RuntimeHandler[]): string | undefined {
  if (name === '' || handlers.length === 0 || handlers.some((each) => each.name === name)) return undefined;
  const known = handlers.map((each) => each.name ?? '').filter(Boolean);
  return `the container runtime has no handler ${JSON.stringify(name)} for spec.runtimeClassName; it has ${known.join(', ') || 'none but its default'}`;
}

function usersProblem(handler: RuntimeHandler | undefined): string | undefined {
  return handler?.features?.userNamespaces === true
    ? undefined
    : "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
}
