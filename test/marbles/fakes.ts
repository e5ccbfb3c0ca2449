import { asyncScheduler, defer, EMPTY, NEVER, of, type Observable } from 'rxjs';
import { CONTAINER_HASH } from '../../src/model/cri/labels.ts';
import { containerHash } from '../../src/model/container-hash.ts';
import { NO_OBJECTS } from '../../src/model/objects/object-set.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../src/model/observed.ts';
import type { Container, Pod, PodMetadata, PodSpec, PodUid } from '../../src/model/pod.ts';
import { userNamespaceAt } from '../../src/model/user-namespace.ts';
import type { PerformContext } from '../../src/runtime/perform-context.ts';
import { revisions } from '../../src/streams/pleg/revisions.ts';
import type { Cgroups } from '../../src/streams/ports/cgroups.ts';
import type { Cri } from '../../src/streams/ports/cri.ts';
import type { Files } from '../../src/streams/ports/files.ts';
import type { Http } from '../../src/streams/ports/http.ts';
import type { Mounts } from '../../src/streams/ports/mounts.ts';
import type { VolumeFiles } from '../../src/streams/ports/volume-files.ts';

export const UID = 'u-1' as PodUid;
export const IMAGE = 'busybox:1';

export interface PodParts {
  readonly metadata?: Partial<PodMetadata>;
  readonly spec?: Partial<PodSpec>;
  /** Names of its containers; they all have the same image. */
  readonly names?: readonly string[];
}

/** A pod with one container `main` and the resolver of the node, unless the test says more. */
export function pod({ metadata = {}, spec = {}, names = ['main'] }: PodParts = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'default', uid: UID, annotations: {}, labels: {}, ...metadata },
    spec: { containers: names.map((name) => wanted(name)), dnsPolicy: 'Default', ...spec },
  };
}

/** A pod whose container mounts all of its volumes. */
export function podWith(volumes: NonNullable<PodSpec['volumes']>, spec: Partial<PodSpec> = {}): Pod {
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  return pod({ spec: { containers: [wanted('main', { volumeMounts })], volumes, ...spec } });
}

export function wanted(name = 'main', more: Partial<Container> = {}): Container {
  return { name, image: IMAGE, imagePullPolicy: 'IfNotPresent', ...more };
}

/** A running container `main` as the runtime shows it. */
export function container(more: Partial<ObservedContainer> = {}): ObservedContainer {
  const name = more.name ?? 'main';
  const attempt = more.attempt ?? 0;
  return {
    id: `${name}-${attempt}`,
    name,
    sandboxId: 's-0',
    attempt,
    state: 'running',
    createdAt: attempt,
    image: IMAGE,
    imageRef: '',
    annotations: { [CONTAINER_HASH]: containerHash(name, IMAGE) },
    ...more,
  };
}

/** A container that ended with `exitCode` at `finishedAt` milliseconds. */
export function exited(exitCode: number, finishedAt = 0, more: Partial<ObservedContainer> = {}): ObservedContainer {
  const detail = { startedAt: 0, finishedAt: finishedAt * 1e6, exitCode, reason: '', message: '', logPath: '' };
  return container({ state: 'exited', detail, ...more });
}

/** A ready sandbox with a network of its own. */
export function sandbox(more: Partial<ObservedSandbox> = {}): ObservedSandbox {
  const attempt = more.attempt ?? 0;
  return {
    id: `s-${attempt}`,
    attempt,
    state: 'ready',
    createdAt: attempt,
    ips: ['10.0.0.7'],
    hostNetwork: false,
    ...more,
  };
}

export function observed(more: Partial<ObservedPod>): ObservedPod {
  return { uid: UID, name: 'web', namespace: 'default', revision: 1, sandboxes: [], containers: [], ...more };
}

/** A runtime that does at once what it is told; what is sent to it goes to `log`, as `stopContainer main-0`. */
export function fakeCri(log: string[], answers: Partial<Cri> = {}): Cri {
  const obedient: Cri = {
    version: () => of({ runtimeApiVersion: 'v1', runtimeName: 'fake', runtimeVersion: '1.0' }),
    status: () => of({ runtimeHandlers: [] }),
    runtimeConfig: () => of({}),
    runPodSandbox: ({ config }) => of({ podSandboxId: `s-${config?.metadata?.attempt ?? 0}` }),
    stopPodSandbox: done,
    removePodSandbox: done,
    podSandboxStatus: () => of({ status: { network: { ip: '10.0.0.7' } } }),
    listPodSandbox: () => of({ items: [] }),
    createContainer: ({ config }) =>
      of({ containerId: `${config?.metadata?.name ?? ''}-${config?.metadata?.attempt ?? 0}` }),
    startContainer: done,
    stopContainer: done,
    removeContainer: done,
    containerStatus: () => of({}),
    listContainers: () => of({ containers: [] }),
    updateContainerResources: done,
    reopenContainerLog: done,
    execSync: () => EMPTY,
    exec: () => EMPTY,
    attach: () => EMPTY,
    portForward: () => EMPTY,
    containerEvents: () => NEVER,
    pullImage: () => of({}),
    imageStatus: () => of({}),
    listImages: () => EMPTY,
    removeImage: done,
    imageFsInfo: () => EMPTY,
  };
  return logged({ ...obedient, ...answers }, log, idOf);
}

/** A disk that holds `texts` and takes everything; what is done to it goes to `log`, as `makeDir /pods`. */
export function fakeFiles(
  log: string[],
  answers: Partial<Files> = {},
  texts: Map<string, string> = new Map<string, string>(),
): Files {
  const patient: Files = {
    makeDir: done,
    writeFile: (path, content) => {
      texts.set(path, content);
      return done();
    },
    readFile: (path) => of(texts.get(path)),
    list: () => of([]),
    typeOf: () => of('missing'),
    link: done,
    readLink: () => of(undefined),
    removeFile: done,
    removeTree: done,
    removeCgroup: done,
  };
  return logged({ ...patient, ...answers }, log, String);
}

/** Cgroups that take everything; what is done to them goes to `log`, as `remove /kubepods/podu-1 kill`. */
export function fakeCgroups(log: string[], answers: Partial<Cgroups> = {}): Cgroups {
  const noted = <T>(words: readonly string[], result: T): Observable<T> =>
    defer(() => {
      log.push(words.join(' '));
      return of(result);
    });
  return {
    apply: (path) => noted(['apply', path], 'set'),
    remove: (path, how) => noted(['remove', path, how], undefined),
    children: () => of([]),
    ...answers,
  };
}

/** A node on which nothing is mounted below the pods, and everything can be; what is done goes to `log`, as `unmount /v`. */
export function fakeMounts(log: string[], answers: Partial<Mounts> = {}): Mounts {
  const patient: Mounts = {
    below: () => of([]),
    mount: done,
    mountMemory: done,
    unmount: done,
    bindInside: done,
  };
  return logged({ ...patient, ...answers }, log, (asked) => {
    const { source, target, volume, subPath } = asked as Readonly<Record<string, string | undefined>>;
    if (typeof asked === 'string') return asked;
    return `${source ?? `${volume ?? ''}//${subPath ?? ''}`} ${target ?? ''}`;
  });
}

/** Files of volumes that are always written anew; what is done goes to `log`, as `writePayload /v`. */
export function fakeVolumeFiles(log: string[], answers: Partial<VolumeFiles> = {}): VolumeFiles {
  const patient: VolumeFiles = {
    setMode: done,
    giveToGroup: done,
    writePayload: () => of(true),
    usage: () => of(0),
  };
  return logged({ ...patient, ...answers }, log, String);
}

/** Nobody answers. */
export const silentHttp: Http = { get: () => NEVER };

export interface ContextParts extends Partial<PerformContext> {
  readonly log?: string[];
}

/** A node on which every image is there, with the resolver and the hardware of the recorded kubelet. */
export function context({ log = [], ...more }: ContextParts = {}): PerformContext {
  return {
    config: {
      cgroupRoot: '/',
      cgroupsPerQOS: true,
      clusterDNS: [],
      clusterDomain: '',
      resolvConf: '/etc/resolv.conf',
      seccompDefault: false,
    },
    facts: {
      nodeName: 'n1',
      hostIps: ['192.0.2.2'],
      allocatable: { cpu: '2', memory: '24Gi' },
      swapController: true,
      memoryCapacity: 24 * 1024 ** 3,
      hugePageSizes: ['2MB'],
      cgroupV2: false,
      cgroupDriver: 'cgroupfs',
      runtimeName: 'containerd',
      thermalThrottlePaths: [],
    },
    rules: {
      cpuCFSQuota: true,
      cpuPeriodMicroseconds: 100_000,
      memoryCapacity: 24 * 1024 ** 3,
      hugePageSizes: ['2MB'],
      cgroupV2: false,
      swapController: true,
      singleProcessOomKill: true,
    },
    paths: { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' },
    backoff: { initial: 10_000, ceiling: 300_000 },
    retryPeriod: 10_000,
    resyncPeriod: 60_000,
    cri: fakeCri(log),
    files: fakeFiles(log),
    mounts: fakeMounts(log),
    volumeFiles: fakeVolumeFiles(log),
    objects$: of(NO_OBJECTS),
    userNamespaces: () => of(userNamespaceAt({ start: 65_536, length: 65_536 })),
    revisions: revisions(),
    monotonic: () => asyncScheduler.now(),
    random: () => 0,
    http: { get: () => of(200) },
    images: { status: () => of({ image: { id: 'sha256:1' } }), pull: () => of({ ref: 'sha256:1', took: 0 }) },
    ...more,
  };
}

function done(): Observable<undefined> {
  return of(undefined);
}

/** Notes each call when it is subscribed, which is when it is sent. */
function logged<Port extends object>(port: Port, log: string[], tell: (request: unknown) => string): Port {
  const calls = Object.entries(port as Record<string, (...args: readonly unknown[]) => Observable<unknown>>).map(
    ([name, call]) => [
      name,
      (...args: readonly unknown[]) =>
        defer(() => {
          log.push(`${name} ${tell(args[0])}`.trimEnd());
          return call(...args);
        }),
    ],
  );
  return Object.fromEntries(calls) as Port;
}

/** What a request is about, in one word. */
function idOf(request: unknown): string {
  const { containerId, podSandboxId, config, image } = (request ?? {}) as {
    readonly containerId?: string;
    readonly podSandboxId?: string;
    readonly config?: { readonly metadata?: { readonly name?: string; readonly attempt?: number } };
    readonly image?: { readonly image?: string };
  };
  if (config) return `${config.metadata?.name ?? ''}-${config.metadata?.attempt ?? 0}`;
  return containerId ?? podSandboxId ?? image?.image ?? '';
}
