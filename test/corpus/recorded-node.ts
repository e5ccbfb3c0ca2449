import { catchError, map, tap, throwError } from 'rxjs';
import type { ContainerStatusResponse, ContainerUser, ImageStatusResponse } from '../../src/model/cri/api.ts';
import type { AdmissionNode } from '../../src/model/admission/admission-node.ts';
import { allocatable } from '../../src/model/admission/allocatable.ts';
import { nodeLabels } from '../../src/model/admission/node-labels.ts';
import { resolveConfig } from '../../src/model/config/resolve-config.ts';
import type { KubeletConfiguration } from '../../src/model/config/kubelet-configuration.ts';
import { messageOf, RuntimeError } from '../../src/model/errors.ts';
import type { NodeFacts } from '../../src/model/node-facts.ts';
import type { NodePaths } from '../../src/model/paths.ts';
import { fullReference } from '../../src/model/images/full-reference.ts';
import type { SimulatedImage } from '../../src/simulation/image-store.ts';
import type { MemoryDisk } from '../../src/simulation/memory-disk.ts';
import { readYaml } from '../../src/sources/yaml/read-yaml.ts';
import type { Cri } from '../../src/streams/ports/cri.ts';

// The node on which the corpus was recorded (cases/README.md, "The node of the recording").

export const MANIFESTS = '/srv/gold/manifests';
export const HOST_IP = '192.0.2.2';
export const CGROUP_ROOT = '/gold';
export const PATHS: NodePaths = {
  rootDir: '/srv/gold/kl',
  podLogsDir: '/var/log/pods',
  containerLinksDir: '/var/log/containers',
};

export const FACTS: NodeFacts = {
  nodeName: 'n1',
  hostIps: [HOST_IP],
  allocatable: { cpu: '2', memory: '24Gi' },
  swapController: true,
  memoryCapacity: 24 * 2 ** 30,
  hugePageSizes: ['2MB'],
  cgroupV2: false,
  cgroupDriver: 'cgroupfs',
  runtimeName: 'containerd',
  thermalThrottlePaths: [],
};

const DEFAULT_CONFIG = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${MANIFESTS}
cgroupDriver: cgroupfs
cgroupRoot: ${CGROUP_ROOT}
failSwapOn: false
failCgroupV1: false
maxPods: 60
resolvConf: /srv/gold/etc/resolv.conf
enforceNodeAllocatable: [pods]
`;
/** What is added to it; the node labels of `labels` are a flag of the kubelet. */
const VARIANTS: Readonly<Record<string, string>> = {
  default: '',
  dns: 'clusterDNS: [10.96.0.10]\nclusterDomain: cluster.test\n',
  security: 'seccompDefault: true\nallowedUnsafeSysctls: ["kernel.msg*", "net.core.somaxconn"]\n',
  maxpods: 'maxPods: 2\n',
  labels: `registerWithTaints:
- {key: gold.test/x, value: "1", effect: NoExecute}
- {key: gold.test/y, value: "1", effect: NoSchedule}
`,
};

/** The configuration file of the recording. */
export function configTextOf(variant: string): string {
  const overrides = VARIANTS[variant];
  if (overrides === undefined) throw new Error(`nobody knows the configuration ${variant}`);
  const without = DEFAULT_CONFIG.split('\n').filter((line) => !overrides.startsWith(`${line.split(':')[0] ?? ''}:`));
  return `${without.join('\n')}\n${overrides}`;
}

export function configOf(variant: string): KubeletConfiguration {
  const [document] = readYaml(configTextOf(variant)).documents;
  const locate = (): undefined => undefined;
  const resolved = resolveConfig([{ kind: 'file', origin: variant, value: document?.value, locate }]);
  if (resolved.kind === 'refused') throw new Error(`${variant}: ${JSON.stringify(resolved.problems)}`);
  return resolved.config;
}

/** The node had two processors, and no huge pages set aside. */
export function admissionNodeOf(variant: string): AdmissionNode {
  const config = configOf(variant);
  const capacity = { cpus: 2, memory: FACTS.memoryCapacity, hugePages: { 'hugepages-2Mi': 0, 'hugepages-1Gi': 0 } };
  return {
    nodeName: FACTS.nodeName,
    labels: nodeLabels(FACTS.nodeName, 'x64', variant === 'labels' ? { disk: 'ssd', zone: 'moon', cores: '4' } : {}),
    taints: config.registerWithTaints,
    allocatable: allocatable(capacity, config),
    appArmor: false,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    supplementalGroupsPolicy: true,
  };
}

export function furnish(disk: MemoryDisk): void {
  const file = (content: string, mode = 0o644): { type: 'file'; mode: number; content: string } => ({
    type: 'file',
    mode,
    content,
  });
  disk.put(
    '/etc/hosts',
    file(`127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n${HOST_IP}\tn1\n198.51.100.7\tbuildbox.lab.test\n`),
  );
  disk.put(
    '/srv/gold/etc/resolv.conf',
    file('nameserver 192.0.2.53\nsearch corp.test lab.test\noptions ndots:2 timeout:1\n'),
  );
  const fixtures = '/srv/gold/fix/hp';
  disk.put(`${fixtures}/dir`, { type: 'directory', mode: 0o755 });
  disk.put(`${fixtures}/file`, file('8 bytes\n'));
  disk.put(`${fixtures}/link`, { type: 'link', target: 'dir' });
  disk.put(`${fixtures}/chr`, { type: 'charDevice', mode: 0o666 });
  disk.put(`${fixtures}/blk`, { type: 'blockDevice', mode: 0o660 });
  disk.put(`${fixtures}/sock`, { type: 'socket', mode: 0o755 });
  disk.put('/srv/gold/fix/fsg', { type: 'directory', mode: 0o755 });
}

interface RecordedImage {
  readonly uid?: number;
  readonly username?: string;
}

const IMAGES: Readonly<Record<string, RecordedImage>> = {
  'docker.io/library/busybox:1.35': {},
  'docker.io/library/busybox:1.36': {},
  'docker.io/library/busybox:latest': {},
  'gold.test/full:1': { uid: 1234 },
  'gold.test/named:1': { username: 'app' },
  'gold.test/numeric:1': { uid: 4321 },
  'gold.test/stop:1': {},
  'gold.test/vol:1': {},
  'gold.test/files:1': {},
};
/** Whether a manifest names one of the images of the recording's node, by its tag. */
export function isImageHere(name: string): boolean {
  return fullReference(name) in IMAGES;
}

/** The digest of busybox:1.35 at the recording, which manifests name. */
const BUSYBOX_DIGEST = 'sha256:487fcc835da44a5543c9e927a5519f35de0a12765f47e1a9c23a1ca997fe14ee';

/** What the registry answers; `wanted` are the images that the manifests name. */
export function imagesOf(wanted: readonly string[]): Readonly<Record<string, SimulatedImage>> {
  const present = Object.keys(IMAGES).map((name) => [name, { present: true }] as const);
  const others = wanted
    .map((name) => fullReference(name))
    .filter((name) => !(name in IMAGES))
    .map((name): readonly [string, SimulatedImage] => [name, answerOfRegistry(name)]);
  return Object.fromEntries<SimulatedImage>([...others, ...present]);
}

/** containerd tried several times before it gave up. */
const FAILING = { pullTime: 6_000 };
const NOT_FOUND = ': not found';

function answerOfRegistry(name: string): SimulatedImage {
  const [repository = '', tag = ''] = name.replace(/^[^/]*\//, '').split(':');
  const isThere = Object.keys(IMAGES).some((known) => known.endsWith(`/${repository.replace(/^slow\//, '')}:${tag}`));
  const isBusybox = `docker.io/library/${repository.replace(/^(?:slow|library)\//, '')}:${tag}` in IMAGES;
  const failed = `failed to pull and unpack image "${name}": failed to resolve image: `;
  const refused = `${failed}unexpected status from HEAD request to http://127.0.0.1:5055/v2/${repository}/manifests/${tag}?ns=gold.test`;
  if (repository.startsWith('private/')) return { ...FAILING, pullError: `${refused}: 401 Unauthorized` };
  if (repository.startsWith('broken/')) return { ...FAILING, pullError: `${refused}: 500 Internal Server Error` };
  if (!isThere && !isBusybox) return { ...FAILING, pullError: `${failed}${name}${NOT_FOUND}` };
  return repository.startsWith('slow/') ? { pullTime: 4_000 } : {};
}

export interface Containerd {
  readonly cri: Cri;
  /** The names of images by the ids under which the simulated runtime has them. */
  readonly tagById: ReadonlyMap<string, string>;
}

/** Tells of images and containers what containerd told of those of the recording. */
export function asContainerd(cri: Cri, userOf: (container: string) => ContainerUser | undefined): Containerd {
  const tagById = new Map<string, string>();
  return {
    tagById,
    cri: {
      ...cri,
      status: () => cri.status().pipe(map((answer) => ({ ...answer, features: { supplementalGroupsPolicy: true } }))),
      imageStatus: (request) => {
        // An image named by tag and digest is the one of the digest.
        const name = (request.image?.image ?? '').replace(`@${BUSYBOX_DIGEST}`, '');
        return cri.imageStatus({ ...request, image: { ...request.image, image: name } }).pipe(
          tap(({ image }) => {
            if (image?.id !== undefined) tagById.set(image.id, firstName(image.repoTags?.[0] ?? ''));
          }),
          map(withUser),
        );
      },
      pullImage: (request) =>
        cri.pullImage(request).pipe(
          catchError((error: unknown) => {
            const text = messageOf(error);
            return throwError(() =>
              text.endsWith(NOT_FOUND) ? new RuntimeError('notFound', 'PullImage', text) : error,
            );
          }),
        ),
      containerStatus: (request) =>
        cri.containerStatus(request).pipe(
          map(({ status, ...rest }): ContainerStatusResponse => {
            if (!status) return rest;
            const { imageRef = '' } = status;
            const tag = tagById.get(imageRef);
            const user = userOf(status.metadata?.name ?? '');
            const image =
              tag === undefined
                ? {}
                : { image: { image: tag }, imageRef: `${tag.replace(/:[^:/]*$/, '')}@${imageRef}` };
            return { ...rest, status: { ...status, ...image, ...(user && { user }) } };
          }),
        ),
    },
  };
}

/** What is pulled under another name has the digest of the image that is there, and goes by the name of that. */
function firstName(tag: string): string {
  return tag.replace(/^(?:gold\.test\/slow|index\.docker\.io\/library)\//, 'docker.io/library/');
}

function withUser(answer: ImageStatusResponse): ImageStatusResponse {
  if (!answer.image) return answer;
  const { uid = 0, username } = IMAGES[answer.image.repoTags?.[0] ?? ''] ?? {};
  // A user that is root or none is told as the number 0.
  return {
    ...answer,
    image: { ...answer.image, ...(username === undefined ? { uid: { value: uid } } : { username }) },
  };
}

/** `<CONFIG:busybox_1.35>` and `<MANIFEST:busybox_1.35>` for the ids and digests of the simulated images. */
export function imagePlaceholders(text: string, tagById: ReadonlyMap<string, string>): string {
  let result = text.replaceAll(BUSYBOX_DIGEST, '<MANIFEST:busybox_1.35>');
  for (const [id, tag] of tagById) {
    const short = tag.slice(tag.lastIndexOf('/') + 1).replace(':', '_');
    result = result.replaceAll(`@${id}`, `@<MANIFEST:${short}>`).replaceAll(id, `<CONFIG:${short}>`);
  }
  return result;
}
