import { catchError, concatMap, map, of, type Observable } from 'rxjs';
import type { ContainerConfig, PodSandboxConfig } from '../../../src/model/cri/api.ts';
import { messageOf, RuntimeError } from '../../../src/model/errors.ts';
import type { Latency } from '../../../src/simulation/calls.ts';
import { LATENCIES } from '../../../src/simulation/latencies.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';

/** Ten milliseconds for every call: the effect comes after eight. */
export const TEN: Readonly<Record<string, Latency>> = Object.fromEntries(
  [...Object.keys(LATENCIES), 'GetContainerEvents'].map((name) => [name, [10, 10] as const]),
);

export const ON_THE_NODE = { web: { present: true }, 'busybox:1': { present: true } };

export function sandboxConfig(uid = 'u', more: PodSandboxConfig = {}): PodSandboxConfig {
  return {
    metadata: { name: `pod-${uid}`, uid, namespace: 'default', attempt: 0 },
    labels: { 'io.kubernetes.pod.uid': uid },
    annotations: { note: uid },
    logDirectory: `/var/log/pods/${uid}`,
    ...more,
  };
}

export function containerConfig(name = 'c', more: ContainerConfig = {}): ContainerConfig {
  return {
    metadata: { name, attempt: 0 },
    image: { image: 'web' },
    labels: { 'io.kubernetes.container.name': name },
    logPath: `${name}/0.log`,
    ...more,
  };
}

export interface Ids {
  readonly sandbox: string;
  readonly container: string;
}

/** Runs a pod of one container. */
export function runPod(cri: Cri, uid = 'u', config: ContainerConfig = containerConfig()): Observable<Ids> {
  return cri
    .runPodSandbox({ config: sandboxConfig(uid) })
    .pipe(
      concatMap(({ podSandboxId: sandbox = '' }) =>
        cri
          .createContainer({ podSandboxId: sandbox, config, sandboxConfig: sandboxConfig(uid) })
          .pipe(
            concatMap(({ containerId: container = '' }) =>
              cri.startContainer({ containerId: container }).pipe(map(() => ({ sandbox, container }))),
            ),
          ),
      ),
    );
}

/** Whether a call succeeds, or the kind of its error. */
export function outcome(call$: Observable<unknown>): Observable<string> {
  return call$.pipe(
    map(() => 'ok'),
    catchError((error: unknown) => of(error instanceof RuntimeError ? error.kind : messageOf(error))),
  );
}
