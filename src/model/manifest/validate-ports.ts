import type { V1ContainerPort } from '@kubernetes/client-node';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { ContainerDraft, Draft } from './draft.ts';
import { distinct, inRange, obeys, oneOf } from './rules.ts';
import { ipAddress, portName } from './syntax.ts';

export const LARGEST_PORT = 65_535;

/** Rules of the ports of one container. */
export function validatePorts(
  ports: readonly Draft<V1ContainerPort>[],
  hostNetwork: boolean,
  path: FieldPath,
  report: Report,
): void {
  ports.forEach(({ name, containerPort = 0, hostPort = 0, hostIP, protocol }, index) => {
    const at = (field: string): FieldPath => [...path, index, field];
    obeys(report, at('name'), name, portName);
    if (containerPort === 0) report(at('containerPort'), 'is required');
    else inRange(report, at('containerPort'), containerPort, 1, LARGEST_PORT);
    if (hostPort !== 0) inRange(report, at('hostPort'), hostPort, 1, LARGEST_PORT);
    if (hostNetwork && hostPort !== 0 && hostPort !== containerPort) {
      report(at('hostPort'), `${hostPort} must equal the containerPort in a pod with hostNetwork`);
    }
    oneOf(report, at('protocol'), protocol, ['TCP', 'UDP', 'SCTP']);
    obeys(report, at('hostIP'), hostIP, ipAddress);
  });
  distinct(
    report,
    ports.map(({ name }, index) => [[...path, index, 'name'], name]),
  );
}

/** One port of the node can only serve one container of a pod. */
export function validateHostPorts(containers: readonly ContainerDraft[], path: FieldPath, report: Report): void {
  const taken = new Set<string>();
  containers.forEach(({ ports = [] }, container) => {
    ports.forEach(({ hostPort = 0, hostIP = '', protocol = 'TCP' }, index) => {
      if (hostPort === 0) return;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key))
        report([...path, container, 'ports', index, 'hostPort'], `${protocol} port ${hostPort} is given twice`);
      taken.add(key);
    });
  });
}
