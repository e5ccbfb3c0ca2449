import { checkShape, isRecord } from '../schema/check-shape.ts';
import { formatFieldPath, type FieldPath } from '../schema/field-path.ts';
import { settleShape } from '../schema/settle-shape.ts';
import { checkConfig } from './check-config.ts';
import { problemAt, type ConfigLayer, type ConfigProblem } from './config-layer.ts';
import { decodeConfig } from './decode-config.ts';
import { warnAboutGates } from './feature-gates.ts';
import { KUBELET_CONFIGURATION_SCHEMA } from './kubelet-configuration-schema.ts';
import { USED_FIELDS, type KubeletConfiguration } from './kubelet-configuration.ts';
import { mergeConfig } from './merge-config.ts';

export type ResolvedConfig =
  | {
      readonly kind: 'resolved';
      readonly config: KubeletConfiguration;
      /** Sentences about what is valid and has no effect. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'refused'; readonly problems: readonly ConfigProblem[] };

const TYPE = 'KubeletConfiguration';
const API_VERSION = 'kubelet.config.k8s.io/v1beta1';

/**
 * Lays the given layers over the kubelet's defaults, first to last: `--config`, drop-ins, flags (facts sheet 1.2).
 * Everything that is wrong in any layer is told at once; values are judged as they stand in the end, and blamed on the
 * layer that had the last word.
 */
export function resolveConfig(layers: readonly ConfigLayer[]): ResolvedConfig {
  const misshapen = layers.flatMap(checkLayer);
  if (misshapen.length) return { kind: 'refused', problems: misshapen };

  const merged = layers.reduce<unknown>((document, { value }) => mergeConfig(document, value), {});
  const wire = settleShape(KUBELET_CONFIGURATION_SCHEMA, TYPE, merged);
  const config = decodeConfig(isRecord(wire) ? wire : {});
  const wrong = checkConfig(config).map(({ path, message }) => blame(layers, path, message));
  if (wrong.length) return { kind: 'refused', problems: wrong };

  return {
    kind: 'resolved',
    config,
    warnings: [...layers.flatMap(warnAboutFields), ...warnAboutGates(config.featureGates)],
  };
}

function checkLayer(layer: ConfigLayer): readonly ConfigProblem[] {
  const strangers = layer.kind === 'file' ? checkKind(layer) : [];
  if (strangers.length) return strangers;
  return checkShape(KUBELET_CONFIGURATION_SCHEMA, TYPE, layer.value).map(({ path, message }) =>
    problemAt(layer, path, formatFieldPath(path), message),
  );
}

/** A file of another kind is refused before its fields are looked at: each of them would be unknown. */
function checkKind(layer: ConfigLayer): readonly ConfigProblem[] {
  if (!isRecord(layer.value)) {
    return [problemAt(layer, [], '', `must hold one ${TYPE} (apiVersion: ${API_VERSION})`)];
  }
  const expected = { apiVersion: API_VERSION, kind: TYPE };
  return Object.entries(expected).flatMap(([field, right]) => {
    const given = isRecord(layer.value) ? layer.value[field] : undefined;
    if (given === right) return [];
    return [problemAt(layer, given === undefined ? [] : [field], field, `must be ${right}${insteadOf(given)}`)];
  });
}

function insteadOf(given: unknown): string {
  return given === undefined ? '' : `, not ${JSON.stringify(given)}`;
}

/** The problem with a merged value, at the place that set it. */
function blame(layers: readonly ConfigLayer[], path: FieldPath, message: string): ConfigProblem {
  const layer = layers.findLast(({ value }) => sets(value, path));
  const field = formatFieldPath(path);
  return layer ? problemAt(layer, path, field, message) : { origin: 'configuration', field, message };
}

function sets(value: unknown, [step, ...rest]: FieldPath): boolean {
  if (step === undefined) return true;
  if (Array.isArray(value)) return typeof step === 'number' && sets(value[step], rest);
  return isRecord(value) && Object.hasOwn(value, step) && sets(value[String(step)], rest);
}

function warnAboutFields({ origin, value }: ConfigLayer): readonly string[] {
  const given = isRecord(value) ? value : {};
  const unused = Object.keys(given)
    .filter((field) => field !== 'apiVersion' && field !== 'kind' && !USED_FIELDS.has(field))
    .concat(unusedWays(given['authentication']))
    .sort();
  return unused.length ? [`${origin}: valid for the kubelet, without effect in rxlet yet: ${unused.join(', ')}`] : [];
}

/** Clients show a certificate, and no other way is taken. */
function unusedWays(authentication: unknown): readonly string[] {
  const ways = Object.keys(isRecord(authentication) ? authentication : {});
  return ways.filter((way) => way !== 'x509').map((way) => `authentication.${way}`);
}
