export interface PodYaml {
  readonly name: string;
  /** Shell text that the container runs. */
  readonly run: string;
  /** Seconds. */
  readonly grace?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder of the node that the container sees as `/node`. */
  readonly folder?: string;
}

/** Runs until it is asked to end, then ends at once. */
export const OBEDIENT = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";

/** A manifest with one busybox container, as a user would write it. */
export function podYaml({ name, run, grace = 10, env = {}, folder }: PodYaml): string {
  const variables = Object.entries(env).map(
    ([key, value]) => `\n    - {name: ${key}, value: ${JSON.stringify(value)}}`,
  );
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  terminationGracePeriodSeconds: ${grace}
  containers:
  - name: main
    image: docker.io/library/busybox:1.35
    command: [sh, -c, ${JSON.stringify(run)}]${variables.length > 0 ? `\n    env:${variables.join('')}` : ''}${
      folder === undefined
        ? ''
        : `
    volumeMounts:
    - {name: folder, mountPath: /node}
  volumes:
  - name: folder
    hostPath: {path: ${folder}, type: Directory}`
    }
`;
}
