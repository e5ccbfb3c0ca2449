/** Steps from the root of a document to one field: names of fields and keys, indexes of lists. */
export type FieldPath = readonly (string | number)[];

/** Something wrong with one field. */
export interface FieldProblem {
  readonly path: FieldPath;
  readonly message: string;
}

/** Takes note of something wrong with one field. */
export type Report = (path: FieldPath, message: string) => void;

/**
 * A path as Kubernetes prints it: `spec.containers[0].image`. Keys that are no plain field name, as those of
 * labels and resources, stand in brackets: `metadata.labels[app.kubernetes.io/name]`.
 */
export function formatFieldPath(path: FieldPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!PLAIN_NAME.test(step)) return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/;
