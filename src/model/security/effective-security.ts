import type { Container, PodSpec } from '../pod.ts';

export type SecurityContext = NonNullable<Container['securityContext']>;

/** What a container's own `securityContext` leaves open, the pod's says (facts sheet 12). */
export function effectiveSecurity(spec: PodSpec, { securityContext = {} }: Container): SecurityContext {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = spec.securityContext ?? {};
  return {
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    ...(runAsNonRoot === undefined ? {} : { runAsNonRoot }),
    ...(seLinuxOptions === undefined ? {} : { seLinuxOptions }),
    ...securityContext,
  };
}
