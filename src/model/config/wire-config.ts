import { isRecord, type Schema } from '../schema/check-shape.ts';
import { manifestUrls, parseManifestUrl } from '../manifest/manifest-url.ts';
import { formatGoDuration } from '../restart/backoff.ts';
import { KUBELET_CONFIGURATION_SCHEMA } from './kubelet-configuration-schema.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/** The configuration as it would stand in a file: durations as text. What may be a password is masked. */
export function wireConfig(config: KubeletConfiguration): unknown {
  const { featureGates, staticPodURL, ...rest } = config;
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...(wired(rest, 'KubeletConfiguration') as object),
    staticPodURL: manifestUrls(staticPodURL)
      .map((url) => parseManifestUrl(url)?.shown ?? '<masked>')
      .join(' '),
    featureGates,
  };
}

function wired(value: unknown, type: string): unknown {
  if (type === 'Duration' && typeof value === 'number') return durationText(value);
  const fields: Schema[string] | undefined = KUBELET_CONFIGURATION_SCHEMA[type];
  if (!fields || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [
      field,
      MASKED.has(field) && isRecord(inner) ? masked(inner) : wired(inner, fields[field] ?? 'any'),
    ]),
  );
}

const MASKED: ReadonlySet<string> = new Set(['staticPodURLHeader']);

function masked(headers: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, ['<masked>']]));
}

/** Whole seconds as Go writes them, and fractions in milliseconds. */
function durationText(milliseconds: number): string {
  return milliseconds % 1_000 === 0 ? formatGoDuration(milliseconds) : `${milliseconds}ms`;
}
