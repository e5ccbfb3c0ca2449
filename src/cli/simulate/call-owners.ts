import type { SimulatedCall } from '../../simulation/faults.ts';
import type { Happening } from '../../simulation/node-objects.ts';
import type { Someone } from './behaviour.ts';

/** Whose things a runtime has, from what has happened on it. */
export interface CallOwners {
  readonly learn: (happening: Happening) => void;
  /** Whose a call to the runtime is, by what it is about; `undefined` where it is the node's. */
  readonly ownerOf: (call: SimulatedCall) => Someone | undefined;
}

const MOST = 100_000;

export function callOwners(): CallOwners {
  const owners = new Map<string, Someone>();
  return {
    learn: ({ kind, sandbox, container }) => {
      if (kind !== 'created') return;
      const { name: pod = '', namespace = '' } = sandbox.config.metadata ?? {};
      if (!container) owners.set(sandbox.id, { pod, namespace });
      else owners.set(container.id, { pod, namespace, container: container.config.metadata?.name ?? '' });
      // Calls may come for what is gone already, but not for ever.
      const [oldest] = owners.keys();
      if (owners.size > MOST && oldest !== undefined) owners.delete(oldest);
    },
    ownerOf: ({ request }) => {
      const { config, sandboxConfig, containerId, podSandboxId } = request as Asked;
      const metadata = (sandboxConfig ?? config)?.metadata;
      if (metadata?.namespace !== undefined) return { pod: metadata.name ?? '', namespace: metadata.namespace };
      return owners.get(containerId ?? podSandboxId ?? '');
    },
  };
}

interface Asked {
  readonly config?: { readonly metadata?: { readonly name?: string; readonly namespace?: string } };
  readonly sandboxConfig?: Asked['config'];
  readonly containerId?: string;
  readonly podSandboxId?: string;
}
