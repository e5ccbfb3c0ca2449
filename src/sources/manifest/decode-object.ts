import type {
  V1ConfigMap,
  V1DaemonSet,
  V1Deployment,
  V1Job,
  V1PersistentVolumeClaim,
  V1Secret,
} from '@kubernetes/client-node';
import { assertNever } from '../../model/errors.ts';
import type { Draft } from '../../model/manifest/draft.ts';
import type { ManifestOrigin } from '../../model/manifest/settle-identity.ts';
import type { LocalObject, ObjectKind } from '../../model/objects/local-object.ts';
import { settleClaim } from '../../model/objects/settle-claim.ts';
import { settleConfigMap } from '../../model/objects/settle-config-map.ts';
import { settleSecret } from '../../model/objects/settle-secret.ts';
import { checkShape } from '../../model/schema/check-shape.ts';
import type { FieldProblem, Report } from '../../model/schema/field-path.ts';
import { POD_SCHEMA } from '../../model/schema/pod-schema.ts';
import { settleShape } from '../../model/schema/settle-shape.ts';
import { settleDaemonSet, settleDeployment, settleJob } from '../../model/workloads/settle-workload.ts';

export interface DecodedObject {
  readonly object?: LocalObject;
  readonly problems: readonly FieldProblem[];
}

/** Decodes what is of a kind that serves pods or stands for some. What is wrong with a Secret never tells a value of it. */
export function decodeObject(kind: ObjectKind, value: unknown, origin: ManifestOrigin): DecodedObject {
  const misshapen = checkShape(POD_SCHEMA, kind, value);
  if (misshapen.length > 0) return { problems: kind === 'Secret' ? misshapen.map(withoutValue) : misshapen };
  const problems: FieldProblem[] = [];
  const report: Report = (path, message) => void problems.push({ path, message });
  const object = settle(kind, settleShape(POD_SCHEMA, kind, value), origin, report);
  return problems.length > 0 ? { problems } : { object, problems };
}

/** `settleShape` has given the draft the form of its kind. */
function settle(kind: ObjectKind, draft: unknown, origin: ManifestOrigin, report: Report): LocalObject {
  switch (kind) {
    case 'ConfigMap':
      return settleConfigMap(draft as Draft<V1ConfigMap>, report);
    case 'Secret':
      return settleSecret(draft as Draft<V1Secret>, report);
    case 'PersistentVolumeClaim':
      return settleClaim(draft as Draft<V1PersistentVolumeClaim>, report);
    case 'Deployment':
      return settleDeployment(draft as Draft<V1Deployment>, origin, report);
    case 'DaemonSet':
      return settleDaemonSet(draft as Draft<V1DaemonSet>, origin, report);
    case 'Job':
      return settleJob(draft as Draft<V1Job>, origin, report);
    default:
      return assertNever(kind);
  }
}

/** "must be a string, not the number 1234" says what is wrong; of a Secret only its first half may be told. */
function withoutValue({ path, message }: FieldProblem): FieldProblem {
  return { path, message: message.replace(/, not .*?(; put it in quotes)?$/s, '$1') };
}
