import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const NAMESPACE = 'bench';
/** Every private node has it (scripts/lib/build-images.mjs). */
export const IMAGE = 'docker.io/library/busybox:1.35';
/** Ends at once when it is asked to. */
export const COMMAND: readonly string[] = ['sh', '-c', "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"];

/** Answers probes. */
const SERVE: readonly string[] = [
  'sh',
  '-c',
  "trap 'exit 0' TERM; cd /home; echo ok >index.html; httpd -f -p 8080 & wait",
];
const PROBES = {
  livenessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, failureThreshold: 1000 },
  readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
};

export interface BenchPod {
  /** Numbers those that are dropped together; a word for one apart. */
  readonly id: number | string;
  /** A value in the pod's environment, so that there is something to edit. */
  readonly value?: string;
  /** Two probes of it each second. */
  readonly probed?: boolean;
}

/** Puts the manifest of a pod in place as editors do: written beside, then renamed. */
export function dropManifest(folder: string, { id, value = '', probed = false }: BenchPod): void {
  const container = {
    name: 'c',
    image: IMAGE,
    imagePullPolicy: 'IfNotPresent',
    command: probed ? SERVE : COMMAND,
    env: [{ name: 'V', value }],
    ...(probed ? PROBES : {}),
  };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName(id), namespace: NAMESPACE },
    spec: { terminationGracePeriodSeconds: 10, containers: [container] },
  };
  const beside = join(folder, `.${podName(id)}.new`);
  writeFileSync(beside, `${JSON.stringify(pod, undefined, 2)}\n`);
  renameSync(beside, fileOf(folder, id));
}

export function removeManifest(folder: string, id: BenchPod['id']): void {
  rmSync(fileOf(folder, id));
}

/** Agents add the name of their node to it. */
export function podName(id: BenchPod['id']): string {
  return `b${id}`;
}

function fileOf(folder: string, id: BenchPod['id']): string {
  return join(folder, `${podName(id)}.yaml`);
}
