import { applyDefaults } from '../../../../src/model/manifest/apply-defaults.ts';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { settleIdentity, uidOf } from '../../../../src/model/manifest/settle-identity.ts';
import { validatePod } from '../../../../src/model/manifest/validate-pod.ts';
import type { FieldProblem } from '../../../../src/model/schema/field-path.ts';
import { formatFieldPath } from '../../../../src/model/schema/field-path.ts';

export const FROM_FILE = { origin: '/etc/rxlet/web.yaml', source: 'file', nodeName: 'Node-1' } as const;

/** A small pod, with whatever else its `spec` shall have. */
export function aPod(spec: PodDraft['spec'] = {}, metadata: PodDraft['metadata'] = {}): PodDraft {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', ...metadata },
    spec: { containers: [aContainer()], ...spec },
  };
}

type ContainerDraft = NonNullable<NonNullable<PodDraft['spec']>['containers']>[number];

export function aContainer(more: ContainerDraft = {}): ContainerDraft {
  return { name: 'main', image: 'busybox:1', ...more };
}

export function settle(pod: PodDraft): PodDraft {
  return settleIdentity(applyDefaults(pod), uidOf(pod, FROM_FILE), FROM_FILE);
}

export function validate(pod: PodDraft): readonly string[] {
  return textsOf(validatePod(settle(pod)));
}

function textsOf(problems: readonly FieldProblem[]): readonly string[] {
  return problems.map(({ path, message }) => `${formatFieldPath(path)}: ${message}`);
}
