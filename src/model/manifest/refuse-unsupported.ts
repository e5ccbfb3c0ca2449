import { isRecord } from '../schema/check-shape.ts';
import type { FieldPath, FieldProblem } from '../schema/field-path.ts';
import type { PodDraft } from './draft.ts';

/**
 * Finds what rxlet cannot do yet, so that it is refused loudly rather than ignored. What it can do is the table
 * below; a field moves into it with the code that acts on it. Asked of the settled pod before its defaults.
 */
export function refuseUnsupported(pod: PodDraft): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  compare(pod.spec, SUPPORTED_SPEC, ['spec']);
  return problems;

  function compare(given: unknown, supported: Supported, path: FieldPath): void {
    if (supported === true) return;
    if (Array.isArray(given))
      given.forEach((item: unknown, index) => {
        compare(item, supported, [...path, index]);
      });
    else if (isRecord(given)) {
      for (const [field, value] of Object.entries(given)) {
        const inner = Object.hasOwn(supported, field) ? supported[field] : undefined;
        if (inner !== undefined) compare(value, inner, [...path, field]);
        else if (!isEmpty(value))
          problems.push({ path: [...path, field], message: 'rxlet does not support this field yet' });
      }
    }
  }
}

/** The fields of a map (or of each item of a list) that are supported, or that all of it is. */
type Supported = true | { readonly [field: string]: Supported };

const yes = true;

const AMOUNTS = { requests: yes, limits: yes } satisfies Supported;

const SUPPORTED_CONTAINER = {
  name: yes,
  image: yes,
  imagePullPolicy: yes,
  command: yes,
  args: yes,
  env: {
    name: yes,
    value: yes,
    valueFrom: { fieldRef: yes, resourceFieldRef: yes, fileKeyRef: yes, configMapKeyRef: yes, secretKeyRef: yes },
  },
  envFrom: yes,
  workingDir: yes,
  ports: yes,
  resources: AMOUNTS,
  volumeMounts: yes,
  stdin: yes,
  stdinOnce: yes,
  tty: yes,
  terminationMessagePath: yes,
  terminationMessagePolicy: yes,
  // A stop signal is accepted as by the kubelet, which does not send it on (the gate ContainerStopSignals is off).
  lifecycle: { postStart: yes, preStop: yes, stopSignal: yes },
  livenessProbe: yes,
  readinessProbe: yes,
  startupProbe: yes,
  restartPolicy: yes,
  restartPolicyRules: yes,
  resizePolicy: yes,
  securityContext: yes,
} satisfies Supported;

const SUPPORTED_SPEC = {
  containers: SUPPORTED_CONTAINER,
  initContainers: SUPPORTED_CONTAINER,
  activeDeadlineSeconds: yes,
  volumes: {
    name: yes,
    emptyDir: yes,
    hostPath: yes,
    downwardAPI: yes,
    configMap: yes,
    secret: yes,
    persistentVolumeClaim: yes,
    projected: { defaultMode: yes, sources: { downwardAPI: yes, configMap: yes, secret: yes } },
    image: yes,
    nfs: yes,
  },
  restartPolicy: yes,
  terminationGracePeriodSeconds: yes,
  hostNetwork: yes,
  hostPID: yes,
  hostIPC: yes,
  hostUsers: yes,
  shareProcessNamespace: yes,
  setHostnameAsFQDN: yes,
  hostname: yes,
  hostnameOverride: yes,
  subdomain: yes,
  hostAliases: yes,
  securityContext: yes,
  resources: AMOUNTS,
  overhead: yes,
  runtimeClassName: yes,
  imagePullSecrets: yes,
  nodeName: yes,
  nodeSelector: yes,
  affinity: yes,
  // Of schedulers only: the pod is on its node already.
  topologySpreadConstraints: yes,
  os: yes,
  tolerations: yes,
  priority: yes,
  priorityClassName: yes,
  preemptionPolicy: yes,
  schedulerName: yes,
  enableServiceLinks: yes,
  automountServiceAccountToken: yes,
  dnsPolicy: yes,
  dnsConfig: yes,
} satisfies Supported;

/** `securityContext: {}`, `initContainers: []` and `subdomain: ''` ask for nothing. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
