import { concatMap, map, of, throwError, type Observable } from 'rxjs';
import type { ExecSyncResponse } from '../model/cri/api.ts';
import { RuntimeError } from '../model/errors.ts';
import type { PodUid } from '../model/pod.ts';
import type { Cri } from '../streams/ports/cri.ts';

/** Which ends of a process a client wants. */
export interface StreamOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/**
 * Where the runtime can be talked to about a container or a pod. Each emits one URL; it is good for one connection
 * and for a short time. Errors with a {@link RuntimeError}.
 */
export interface Streaming {
  readonly exec: (containerId: string, command: readonly string[], options: StreamOptions) => Observable<string>;
  readonly attach: (containerId: string, options: StreamOptions) => Observable<string>;
  /** `ports` are known beforehand where the client speaks WebSocket; else they come with the streams. */
  readonly portForward: (uid: PodUid, ports: readonly number[]) => Observable<string>;
  /** Runs a command to its end, and emits what it wrote. Unsubscribing leaves it to itself. */
  readonly run: (containerId: string, command: readonly string[]) => Observable<ExecSyncResponse>;
}

export function streaming(
  cri: Pick<Cri, 'exec' | 'attach' | 'portForward' | 'execSync' | 'listPodSandbox'>,
): Streaming {
  return {
    exec: (containerId, cmd, options) => cri.exec({ containerId, cmd, ...options }).pipe(map(urlIn('Exec'))),
    attach: (containerId, options) => cri.attach({ containerId, ...options }).pipe(map(urlIn('Attach'))),
    portForward: (uid, port) =>
      sandboxOf(cri, uid).pipe(
        concatMap((podSandboxId) => cri.portForward({ podSandboxId, port })),
        map(urlIn('PortForward')),
      ),
    run: (containerId, cmd) => cri.execSync({ containerId, cmd, timeout: 0 }),
  };
}

function urlIn(call: string): (answer: { readonly url?: string | undefined }) => string {
  return ({ url = '' }) => {
    if (url === '') throw new RuntimeError('refused', call, 'the runtime told no address');
    return url;
  };
}

function sandboxOf(cri: Pick<Cri, 'listPodSandbox'>, uid: PodUid): Observable<string> {
  const filter = { labelSelector: { 'io.kubernetes.pod.uid': uid }, state: { state: 'SANDBOX_READY' as const } };
  return cri.listPodSandbox({ filter }).pipe(
    concatMap(({ items = [] }) => {
      const newest = items.toSorted((a, b) => (b.createdAt ?? 0) - (a.createdAt ?? 0)).at(0)?.id;
      return newest === undefined
        ? throwError(() => new RuntimeError('notFound', 'ListPodSandbox', 'the pod has no sandbox that is ready'))
        : of(newest);
    }),
  );
}
