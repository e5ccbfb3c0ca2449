import { assertNever, messageOf } from '../../model/errors.ts';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID, SECRET_IN_COMMAND } from '../../model/cri/labels.ts';
import { withoutCommand } from '../../model/env/secret-in-command.ts';
import type { PodIdentity } from '../../model/paths.ts';
import type { PodUid } from '../../model/pod.ts';
import type { CriCall, Meter } from '../ports/meter.ts';
import type { Tracer } from '../ports/tracer.ts';

/** Sandboxes and containers whose pod is remembered; the oldest is forgotten first, and learned anew when it is listed. */
const MOST_OWNERS = 4_096;

interface Owner {
  readonly pod: PodIdentity;
  readonly container?: string;
  /** The command holds what a Secret says, and complaints about it may quote that. */
  readonly isSecret?: boolean;
}

/**
 * Tells of each measured call to the runtime whose it was, and of relists and probes. Of what went over the wire it
 * reads only who is meant: the answer that makes an object, and every list, tell whose it is.
 */
export function traceMeter(trace: Tracer): Meter {
  /** By the runtime's id. */
  const owners = new Map<string, Owner>();
  const pods = new Map<string, PodIdentity>();

  /** One object per pod, however many ask. */
  function podOf({ uid, name, namespace }: Partial<Record<keyof PodIdentity, string>> = {}): PodIdentity | undefined {
    if (uid === undefined || name === undefined || namespace === undefined) return undefined;
    const known = pods.get(uid) ?? { uid: uid as PodUid, name, namespace };
    remember(pods, uid, known);
    return known;
  }

  function ownerOf(pod: PodIdentity, container?: string, annotations: Annotations = {}): Owner {
    return {
      pod,
      ...(container === undefined ? {} : { container }),
      ...(SECRET_IN_COMMAND in annotations ? { isSecret: true } : {}),
    };
  }

  function learn(id: string | undefined, owner: Owner | undefined): void {
    if (id !== undefined && owner !== undefined) remember(owners, id, owner);
  }

  function learnListed(listed: readonly Listed[] | undefined): void {
    for (const { id, labels, annotations } of listed ?? []) {
      if (id === undefined || owners.has(id)) continue;
      const of = { uid: labels?.[POD_UID], name: labels?.[POD_NAME], namespace: labels?.[POD_NAMESPACE] };
      const pod = podOf(of as Partial<Record<keyof PodIdentity, string>>);
      learn(id, pod && ownerOf(pod, labels?.[CONTAINER_NAME], annotations));
    }
  }

  function ownerIn(request: Sent, answer: Answered): Owner | undefined {
    const { config, sandboxConfig, filter } = request;
    if (sandboxConfig) {
      const pod = podOf(sandboxConfig.metadata);
      const owner = pod && ownerOf(pod, config?.metadata?.name, config?.annotations);
      learn(answer.containerId, owner);
      return owner;
    }
    if (config) {
      const pod = podOf(config.metadata);
      const owner = pod && ownerOf(pod);
      learn(answer.podSandboxId, owner);
      return owner;
    }
    learnListed(answer.items);
    learnListed(answer.containers);
    const asked = filter?.labelSelector?.[POD_UID];
    const pod = asked === undefined ? undefined : pods.get(asked);
    return pod ? { pod } : owners.get(request.containerId ?? request.podSandboxId ?? '');
  }

  function call({ operation, took, outcome, request, answer, error }: CriCall): void {
    const sent = (request ?? {}) as Sent;
    const { isSecret = false, ...owner } = ownerIn(sent, answer ?? {}) ?? {};
    trace({
      kind: 'call',
      call: operation,
      took,
      outcome,
      ...owner,
      ...(sent.image?.image === undefined ? {} : { image: sent.image.image }),
      ...(error === undefined ? {} : { error: isSecret ? withoutCommand(messageOf(error)) : messageOf(error) }),
    });
  }

  return (measured) => {
    switch (measured.kind) {
      case 'criCall':
        call(measured);
        return;
      case 'relist':
        trace({ kind: 'relist', took: measured.took, failed: measured.failed });
        return;
      case 'probe': {
        const { uid, namespace, pod: name, container, probe, result, took } = measured;
        const pod = podOf({ uid, namespace, name }) ?? { uid, namespace, name };
        trace({ kind: 'probe', pod, container, probe, result, took });
        return;
      }
      case 'work': // told as it begins and ends
      case 'podStarted':
      case 'startFailed': // told by the outcome
      case 'pull': // told as a call
      case 'podBegun':
      case 'cgroup':
      case 'sweep':
        return;
      default:
        assertNever(measured);
    }
  };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.has(key)) return;
  map.set(key, value);
  if (map.size <= MOST_OWNERS) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

type Annotations = Readonly<Record<string, string>>;

/** The fields of requests that say who is meant. */
interface Sent {
  readonly config?: {
    readonly metadata?: Partial<Record<keyof PodIdentity, string>>;
    readonly annotations?: Annotations;
  };
  readonly sandboxConfig?: { readonly metadata?: Partial<Record<keyof PodIdentity, string>> };
  readonly filter?: { readonly labelSelector?: Readonly<Record<string, string>> };
  readonly containerId?: string;
  readonly podSandboxId?: string;
  readonly image?: { readonly image?: string };
}

/** The fields of answers that say whose something is. */
interface Answered {
  readonly podSandboxId?: string;
  readonly containerId?: string;
  readonly items?: readonly Listed[];
  readonly containers?: readonly Listed[];
}

interface Listed {
  readonly id?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Annotations;
}
