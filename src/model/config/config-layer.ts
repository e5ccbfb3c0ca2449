import type { Position, Problem } from '../desired.ts';
import type { FieldPath } from '../schema/field-path.ts';

/** One thing somebody said about the configuration. Later layers go over earlier ones. */
export interface ConfigLayer {
  readonly kind: 'file' | 'flag';
  /** The file's path, or the flag as it was typed: what a message about this layer begins with. */
  readonly origin: string;
  /** A `KubeletConfiguration` in its wire form, whole or in part. */
  readonly value: unknown;
  /** Where a field stands in the file. */
  readonly locate: (path: FieldPath) => Position | undefined;
}

/** What is wrong with a configuration, and where. */
export type ConfigProblem = Omit<Problem, 'source' | 'pod'>;

/** Something wrong with one field of a layer. */
export function problemAt(layer: ConfigLayer, path: FieldPath, field: string, message: string): ConfigProblem {
  const position = layer.locate(path);
  return {
    origin: layer.origin,
    ...(position ? { position } : {}),
    ...(field === '' ? {} : { field }),
    message,
  };
}
