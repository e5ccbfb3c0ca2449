import type { V1DaemonSet, V1Deployment, V1Job } from '@kubernetes/client-node';
import { canonicalJson } from '../manifest/canonical-json.ts';
import type { Draft, PodTemplateDraft } from '../manifest/draft.ts';
import { fnv128 } from '../manifest/fnv128.ts';
import { inRange, LARGEST_INT32, oneOf } from '../manifest/rules.ts';
import type { ManifestOrigin } from '../manifest/settle-identity.ts';
import { settleMetadata } from '../objects/settle-metadata.ts';
import { isRecord } from '../schema/check-shape.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import { checkSelector } from './check-selector.ts';
import { checkTemplate } from './check-template.ts';
import type { DaemonSet, Deployment, Job, Share } from './workload.ts';

/** What of a workload is not its own kind's. */
interface Base {
  readonly metadata: Deployment['metadata'];
  readonly template: PodTemplateDraft;
  readonly hash: string;
  readonly origin: ManifestOrigin;
}

export function settleDeployment(
  { metadata = {}, spec = {} }: Draft<V1Deployment>,
  origin: ManifestOrigin,
  report: Report,
): Deployment {
  const { replicas = 1, minReadySeconds = 0, strategy = {}, selector, template = {}, paused } = spec;
  const base = baseOf('Deployment', metadata, template, ['Always'], origin, report);
  checkSelector(selector, template, report);
  inRange(report, ['spec', 'replicas'], replicas, 0, MOST_PODS);
  inRange(report, ['spec', 'minReadySeconds'], minReadySeconds, 0, LARGEST_INT32);
  if (paused === true)
    report(['spec', 'paused'], 'rxlet does not support this field: edit the manifest when it is due');
  const at = ['spec', 'strategy'];
  oneOf(report, [...at, 'type'], strategy.type, ['RollingUpdate', 'Recreate']);
  if (strategy.type === 'Recreate') {
    if (strategy.rollingUpdate) report([...at, 'rollingUpdate'], 'must not be given with the type Recreate');
    return { kind: 'Deployment', ...base, replicas, minReadySeconds, strategy: { type: 'Recreate' } };
  }
  const { maxUnavailable = '25%', maxSurge = '25%' } = strategy.rollingUpdate ?? {};
  checkShares(maxUnavailable, maxSurge, [...at, 'rollingUpdate'], report);
  return {
    kind: 'Deployment',
    ...base,
    replicas,
    minReadySeconds,
    strategy: { type: 'RollingUpdate', maxUnavailable: share(maxUnavailable), maxSurge: share(maxSurge) },
  };
}

export function settleDaemonSet(
  { metadata = {}, spec = {} }: Draft<V1DaemonSet>,
  origin: ManifestOrigin,
  report: Report,
): DaemonSet {
  const { minReadySeconds = 0, updateStrategy = {}, selector, template = {} } = spec;
  const base = baseOf('DaemonSet', metadata, template, ['Always'], origin, report);
  checkSelector(selector, template, report);
  inRange(report, ['spec', 'minReadySeconds'], minReadySeconds, 0, LARGEST_INT32);
  const at = ['spec', 'updateStrategy'];
  if (updateStrategy.type === 'OnDelete')
    report([...at, 'type'], 'rxlet does not support OnDelete, only RollingUpdate');
  else oneOf(report, [...at, 'type'], updateStrategy.type, ['RollingUpdate']);
  const { maxUnavailable = 1, maxSurge = 0 } = updateStrategy.rollingUpdate ?? {};
  checkShares(maxUnavailable, maxSurge, [...at, 'rollingUpdate'], report);
  return {
    kind: 'DaemonSet',
    ...base,
    minReadySeconds,
    strategy: { type: 'RollingUpdate', maxUnavailable: share(maxUnavailable), maxSurge: share(maxSurge) },
  };
}

export function settleJob({ metadata = {}, spec = {} }: Draft<V1Job>, origin: ManifestOrigin, report: Report): Job {
  const { template = {}, completionMode, completions, parallelism = 1, backoffLimit = 6, suspend = false } = spec;
  const { activeDeadlineSeconds, ttlSecondsAfterFinished } = spec;
  const base = baseOf('Job', metadata, template, ['Never', 'OnFailure'], origin, report);
  const limits = { completions, backoffLimit, ttlSecondsAfterFinished };
  for (const [field, value] of Object.entries(limits)) inRange(report, ['spec', field], value, 0, LARGEST_INT32);
  inRange(report, ['spec', 'parallelism'], parallelism, 0, MOST_PODS);
  inRange(report, ['spec', 'activeDeadlineSeconds'], activeDeadlineSeconds, 1, LARGEST_INT32);
  if (completionMode !== undefined && completionMode !== 'NonIndexed')
    report(['spec', 'completionMode'], 'rxlet supports NonIndexed only');
  for (const field of UNSUPPORTED_IN_JOB) {
    if (spec[field] !== undefined) report(['spec', field], 'rxlet does not support this field yet');
  }
  // Like the API server: without either, one pod; of a queue of work one does not know how much there is.
  const wanted = completions ?? (spec.parallelism === undefined ? 1 : undefined);
  return {
    kind: 'Job',
    ...base,
    // The time that the pod as a whole may take is the Job's to watch, or it would begin anew with each pod.
    ...(wanted === undefined ? {} : { completions: wanted }),
    parallelism,
    backoffLimit,
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }),
    suspend,
  };
}

const UNSUPPORTED_IN_JOB = [
  'backoffLimitPerIndex',
  'managedBy',
  'manualSelector',
  'maxFailedIndexes',
  'podFailurePolicy',
  'podReplacementPolicy',
  'selector',
  'successPolicy',
] as const;

/** Far more than one node runs. */
const MOST_PODS = 1_000;

function baseOf(
  kind: 'Deployment' | 'DaemonSet' | 'Job',
  metadata: Draft<NonNullable<V1Deployment['metadata']>>,
  template: PodTemplateDraft,
  restartPolicies: readonly string[],
  origin: ManifestOrigin,
  report: Report,
): Base {
  const named = settleMetadata(metadata, report);
  checkTemplate(named, template, restartPolicies, origin, report);
  const hash = fnv128(canonicalJson([kind, named.namespace, named.name, template])).slice(0, 10);
  return { metadata: named, template, hash, origin };
}

function checkShares(maxUnavailable: unknown, maxSurge: unknown, at: FieldPath, report: Report): void {
  for (const [field, value] of Object.entries({ maxUnavailable, maxSurge })) {
    if (!isShare(value)) report([...at, field], 'must be a whole number from 0 up, or a share as 25%');
  }
  if ([maxUnavailable, maxSurge].every((value) => value === 0 || value === '0%'))
    report([...at, 'maxUnavailable'], 'must not be 0 when maxSurge is 0');
}

function isShare(value: unknown): value is Share {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0;
  return typeof value === 'string' && /^(?:\d\d?|100)%$/.test(value);
}

/** The client's type of a number or text is an object; JSON knows better. */
function share(value: unknown): Share {
  return isRecord(value) ? 0 : (value as Share);
}
