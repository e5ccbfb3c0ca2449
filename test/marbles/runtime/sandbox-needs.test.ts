import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RuntimeHandler } from '../../../src/model/cri/api.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import { userNamespaceAt } from '../../../src/model/user-namespace.ts';
import { sandboxNeeds } from '../../../src/runtime/sandbox-needs.ts';
import { context, fakeCri, pod } from '../fakes.ts';

const HANDLERS: readonly RuntimeHandler[] = [
  { name: '', features: { userNamespaces: true } },
  { name: 'runc', features: { userNamespaces: true } },
  { name: 'gvisor', features: {} },
];
const UNSUPPORTED = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";

function needs(spec: Partial<PodSpec>, runtimeHandlers = HANDLERS, log: string[] = []): unknown {
  const cri = fakeCri(log, { status: () => of({ runtimeHandlers }) });
  let result: unknown;
  sandboxNeeds(pod({ spec }), context({ cri })).subscribe({
    next: (found) => {
      result = found;
    },
    error: (error: unknown) => {
      result = error instanceof Error ? error.message : error;
    },
  });
  return result;
}

describe('sandboxNeeds', () => {
  it('asks the runtime nothing for a pod that wants nothing special', () => {
    const log: string[] = [];
    expect(needs({}, HANDLERS, log)).toEqual({ runtimeHandler: '' });
    expect(needs({ hostUsers: true }, HANDLERS, log)).toEqual({ runtimeHandler: '' });
    expect(log).toEqual([]);
  });

  it.each<[string, Partial<PodSpec>, readonly RuntimeHandler[], unknown]>([
    [
      'takes a runtime class for the handler of that name',
      { runtimeClassName: 'gvisor' },
      HANDLERS,
      { runtimeHandler: 'gvisor' },
    ],
    [
      'refuses a class that the runtime has no handler for',
      { runtimeClassName: 'kata' },
      HANDLERS,
      'the container runtime has no handler "kata" for spec.runtimeClassName; it has runc, gvisor',
    ],
    ['tries a class where the runtime lists no handlers', { runtimeClassName: 'kata' }, [], { runtimeHandler: 'kata' }],
    [
      'gives a pod users of its own',
      { hostUsers: false },
      HANDLERS,
      { runtimeHandler: '', userNamespace: userNamespaceAt({ start: 65_536, length: 65_536 }) },
    ],
    [
      'gives them with a runtime class too',
      { hostUsers: false, runtimeClassName: 'runc' },
      HANDLERS,
      { runtimeHandler: 'runc', userNamespace: userNamespaceAt({ start: 65_536, length: 65_536 }) },
    ],
    ['refuses them where the handler cannot', { hostUsers: false, runtimeClassName: 'gvisor' }, HANDLERS, UNSUPPORTED],
    ['refuses them where the runtime says nothing of it', { hostUsers: false }, [], UNSUPPORTED],
    [
      'refuses a host name that is too long for the kernel',
      { hostname: 'h'.repeat(60), subdomain: 'sub', setHostnameAsFQDN: true },
      HANDLERS,
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'h'.repeat(60)}.sub.default.svc. is too long (64 characters is the max, 77 characters requested)`,
    ],
  ])('%s', (_rule, spec, handlers, expected) => {
    expect(needs(spec, handlers)).toEqual(expected);
  });

  it('fails as the runtime does', () => {
    const cri = fakeCri([], { status: () => throwError(() => new Error('the runtime is gone')) });
    let failure: unknown;
    sandboxNeeds(pod({ spec: { hostUsers: false } }), context({ cri })).subscribe({
      error: (error: unknown) => {
        failure = error;
      },
    });
    expect(failure).toEqual(new Error('the runtime is gone'));
  });
});
