import type { V1EnvVarSource, V1LifecycleHandler, V1PodSecurityContext, V1Probe } from '@kubernetes/client-node';
import { aggregateRequests } from '../pod-resources.ts';
import { formatQuantity, parseQuantity, roundUpToMilli } from '../quantity.ts';
import { sysctlName } from '../sysctl-name.ts';
import { defaultVolume, withApiVersion } from './default-volume.ts';
import type { ContainerDraft, Draft, PodDraft, PodSpecDraft, ResourcesDraft } from './draft.ts';
import { defaultPullPolicy } from './pull-policy.ts';

/**
 * Fills in what the API server would (facts sheet 2.6): a static pod never passes one. Quantities get their canonical
 * form. An empty string counts as absent where the API takes it so.
 */
export function applyDefaults(pod: PodDraft): PodDraft {
  return { ...pod, spec: defaultSpec(pod.spec ?? {}) };
}

function defaultSpec(spec: PodSpecDraft): PodSpecDraft {
  const hostNetwork = spec.hostNetwork === true;
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  const containers = (list: readonly ContainerDraft[]) =>
    list.map((container) => defaultContainer(container, hostNetwork));
  const initContainers = spec.initContainers && containers(spec.initContainers);
  const regular = spec.containers && containers(spec.containers);
  const serviceAccountName = filled(spec.serviceAccountName, spec.serviceAccount);
  return {
    ...spec,
    ...(initContainers && { initContainers }),
    ...(regular && { containers: regular }),
    ...(spec.volumes && { volumes: spec.volumes.map(defaultVolume) }),
    ...(spec.resources && { resources: defaultPodResources(spec.resources, initContainers ?? [], regular ?? []) }),
    ...(serviceAccountName && { serviceAccountName, serviceAccount: serviceAccountName }),
    restartPolicy: filled(spec.restartPolicy, 'Always'),
    dnsPolicy: filled(spec.dnsPolicy, 'ClusterFirst'),
    schedulerName: filled(spec.schedulerName, 'default-scheduler'),
    // The API takes a negative grace period for the shortest one.
    terminationGracePeriodSeconds: grace < 0 ? 1 : grace,
    enableServiceLinks: spec.enableServiceLinks ?? true,
    securityContext: defaultSecurity(spec.securityContext ?? {}),
  };
}

function defaultSecurity(context: Draft<V1PodSecurityContext>): Draft<V1PodSecurityContext> {
  if (!context.sysctls) return context;
  return {
    ...context,
    sysctls: context.sysctls.map((sysctl) => ({ ...sysctl, ...(sysctl.name && { name: sysctlName(sysctl.name) }) })),
  };
}

function defaultContainer(container: ContainerDraft, hostNetwork: boolean): ContainerDraft {
  const { ports, env, resources, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return {
    ...container,
    ...(ports && {
      ports: ports.map((port) => ({
        ...port,
        ...(hostNetwork &&
          port.containerPort !== undefined && { hostPort: nonZero(port.hostPort, port.containerPort) }),
        protocol: filled(port.protocol, 'TCP'),
      })),
    }),
    ...(env && {
      env: env.map((variable) =>
        variable.valueFrom ? { ...variable, valueFrom: defaultEnvSource(variable.valueFrom) } : variable,
      ),
    }),
    ...(livenessProbe && { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe && { startupProbe: defaultProbe(startupProbe) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.postStart && { postStart: defaultHandler(lifecycle.postStart) }),
        ...(lifecycle.preStop && { preStop: defaultHandler(lifecycle.preStop) }),
      },
    }),
    resources: defaultResources(resources ?? {}),
    terminationMessagePath: filled(container.terminationMessagePath, '/dev/termination-log'),
    terminationMessagePolicy: filled(container.terminationMessagePolicy, 'File'),
    imagePullPolicy: filled(container.imagePullPolicy, defaultPullPolicy(container.image ?? '')),
  };
}

function defaultEnvSource(source: Draft<V1EnvVarSource>): Draft<V1EnvVarSource> {
  const { fieldRef, resourceFieldRef, fileKeyRef } = source;
  return {
    ...source,
    ...(fieldRef && { fieldRef: withApiVersion(fieldRef) }),
    ...(resourceFieldRef && { resourceFieldRef: { ...resourceFieldRef, divisor: resourceFieldRef.divisor ?? '0' } }),
    ...(fileKeyRef && { fileKeyRef: { ...fileKeyRef, optional: fileKeyRef.optional ?? false } }),
  };
}

/** A limit without a request is a request of the same amount. */
function defaultResources({ limits, requests, ...rest }: ResourcesDraft): ResourcesDraft {
  const asked = { ...limits, ...requests };
  return {
    ...rest,
    ...(limits && { limits: canonical(limits) }),
    ...((requests ?? Object.keys(asked).length > 0) && { requests: canonical(asked) }),
  };
}

/**
 * A pod that limits itself as a whole, and says not how much it requests, requests what its containers do together; of
 * what they do not ask for, as much as the limit. Huge pages cannot be had twice, so there the limit counts.
 */
function defaultPodResources(
  resources: ResourcesDraft,
  initContainers: readonly ContainerDraft[],
  containers: readonly ContainerDraft[],
): ResourcesDraft {
  if (Object.keys(resources.limits ?? {}).length === 0) return defaultResources(resources);
  const ofContainers = Object.entries(aggregateRequests({ initContainers, containers })).filter(
    ([name]) => name === 'cpu' || name === 'memory',
  );
  return defaultResources({ ...resources, requests: { ...Object.fromEntries(ofContainers), ...resources.requests } });
}

function canonical(amounts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, text]) => {
      const quantity = parseQuantity(text);
      return [name, quantity ? formatQuantity(roundUpToMilli(quantity)) : text];
    }),
  );
}

function defaultProbe(probe: Draft<V1Probe>): Draft<V1Probe> {
  return {
    ...probe,
    ...defaultHandler(probe),
    ...(probe.grpc && { grpc: { ...probe.grpc, service: probe.grpc.service ?? '' } }),
    timeoutSeconds: nonZero(probe.timeoutSeconds, 1),
    periodSeconds: nonZero(probe.periodSeconds, 10),
    successThreshold: nonZero(probe.successThreshold, 1),
    failureThreshold: nonZero(probe.failureThreshold, 3),
  };
}

function defaultHandler<T extends Pick<Draft<V1LifecycleHandler>, 'httpGet'>>(handler: T): T {
  const { httpGet } = handler;
  if (!httpGet) return handler;
  return {
    ...handler,
    httpGet: { ...httpGet, path: filled(httpGet.path, '/'), scheme: filled(httpGet.scheme, 'HTTP') },
  };
}

/** Go's zero stands for absent. */
function nonZero(given: number | undefined, otherwise: number): number {
  return given === undefined || given === 0 ? otherwise : given;
}

function filled<T extends string | undefined>(text: string | undefined, otherwise: T): string | T {
  return text === undefined || text === '' ? otherwise : text;
}
