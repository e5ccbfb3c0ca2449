import type { PodStatus, PodUid } from '../../../../src/model/pod.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import type { PodSight } from '../../../../src/model/workloads/pod-sight.ts';
import type { Workload } from '../../../../src/model/workloads/workload.ts';
import { decodeManifest } from '../../../../src/sources/manifest/decode-manifest.ts';

/** What a manifest of one workload decodes to. `spec` and `pod` are JSON or YAML flow, without the outer braces. */
export function aWorkload<Kind extends Workload['kind']>(
  kind: Kind,
  {
    spec = '',
    pod = '',
    image = 'busybox:1.35',
    ports = '',
    name = 'web',
  }: { spec?: string; pod?: string; image?: string; ports?: string; name?: string } = {},
): Extract<Workload, { kind: Kind }> {
  const job = kind === 'Job';
  const text = [
    `apiVersion: ${job ? 'batch/v1' : 'apps/v1'}`,
    `kind: ${kind}`,
    `metadata: {name: ${name}}`,
    'spec:',
    ...(spec === '' ? [] : [`  ${spec}`]),
    ...(job ? [] : ['  selector: {matchLabels: {app: web}}']),
    '  template:',
    '    metadata: {labels: {app: web}}',
    `    spec: {${pod}${job && !pod.includes('restartPolicy') ? 'restartPolicy: Never, ' : ''}containers: [{name: main, image: ${image}${ports}}]}`,
  ].join('\n');
  const { objects, problems } = decodeManifest(text, { origin: '/m/web.yaml', source: 'file', nodeName: 'n1' });
  const object = objects[0]?.object;
  if (object?.kind !== kind) throw new Error(problems.map(({ message }) => message).join('; '));
  return object as Extract<Workload, { kind: Kind }>;
}

const OWNER = (kind: string): string => `${kind}/default/web`;

/** A pod that runs, and is ready since a time (milliseconds) or not at all. */
export function running(pod: Pod, readySince?: number, restarts = 0): [PodUid, PodSight] {
  const conditions: PodStatus['conditions'] =
    readySince === undefined
      ? []
      : [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(readySince).toISOString() }];
  const containerStatuses: PodStatus['containerStatuses'] = [
    { name: 'main', image: '', imageID: '', ready: readySince !== undefined, restartCount: restarts },
  ];
  const status: PodStatus = { phase: 'Running', conditions, containerStatuses };
  return [pod.metadata.uid, { owner: OWNER('Deployment'), status, isUnderWay: true, isFinished: false }];
}

/** A pod that has ended for good, at a time (milliseconds). */
export function ended(pod: Pod, phase: 'Succeeded' | 'Failed', at: number): [PodUid, PodSight] {
  const terminated = { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: new Date(at).toISOString() };
  const status: PodStatus = {
    phase,
    containerStatuses: [{ name: 'main', image: '', imageID: '', ready: false, restartCount: 0, state: { terminated } }],
  };
  return [pod.metadata.uid, { owner: OWNER('Job'), status, isUnderWay: false, isFinished: true }];
}
