import { suggestName } from '../../model/schema/suggest-name.ts';
import type { NodeView, PodView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

/** Which pods are meant. */
export interface PodQuery {
  /** `web-myhost`, `web` for the same on the node `myhost`, or either with `namespace/` or `pod/` before it. */
  readonly name: string;
  /** Absent: any. */
  readonly namespace: string | undefined;
}

/**
 * The pods of one name: one, or while it is replaced the former and the next one, in this order. Throws a
 * {@link CliError} with near names where there is none, or where several namespaces have it.
 */
export function findPod({ pods }: NodeView, query: PodQuery): readonly [PodView, ...PodView[]] {
  const { name, namespace } = split(query);
  const there = pods.filter(({ pod }) => namespace === undefined || pod.metadata.namespace === namespace);
  const exact = there.filter(({ pod }) => pod.metadata.name === name);
  const found = exact.length > 0 ? exact : there.filter(({ pod }) => shortName(pod) === name);
  const [first, ...others] = found;
  if (!first) throw unknown(name, namespace, there, pods);
  const namespaces = [...new Set(found.map(({ pod }) => pod.metadata.namespace))];
  if (namespaces.length > 1) {
    const choices = namespaces.map((each) => `-n ${each}`).join(' or ');
    throw new CliError(EXIT_CODES.usage, `several namespaces have a pod ${JSON.stringify(name)}`, `Say ${choices}.`);
  }
  return [first, ...others];
}

/** What its manifest calls it, without the name of the node. */
export function shortName({ metadata, spec }: PodView['pod']): string {
  const suffix = `-${(spec.nodeName ?? '').toLowerCase()}`;
  return metadata.name.endsWith(suffix) ? metadata.name.slice(0, -suffix.length) : metadata.name;
}

function split({ name, namespace }: PodQuery): PodQuery {
  const plain = name.replace(/^(?:pods?|po)\//, '');
  const slash = plain.indexOf('/');
  return slash < 0 ? { name: plain, namespace } : { name: plain.slice(slash + 1), namespace: plain.slice(0, slash) };
}

function unknown(
  name: string,
  namespace: string | undefined,
  there: readonly PodView[],
  everywhere: readonly PodView[],
): CliError {
  const where = namespace === undefined ? '' : ` in the namespace ${namespace}`;
  const message = `there is no pod ${JSON.stringify(name)}${where}`;
  const elsewhere = everywhere.find(({ pod }) => pod.metadata.name === name || shortName(pod) === name);
  if (elsewhere)
    return new CliError(
      EXIT_CODES.usage,
      message,
      `There is one in the namespace ${elsewhere.pod.metadata.namespace}.`,
    );
  const near = nearNames(name, there);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(', or ')}? rxlet ps lists all pods.` : 'rxlet ps lists all pods.';
  return new CliError(EXIT_CODES.usage, message, hint);
}

/** Names at most two letters off, else those that begin as the wrong one does. */
function nearNames(name: string, pods: readonly PodView[]): readonly string[] {
  const short = suggestName(
    name,
    pods.map(({ pod }) => shortName(pod)),
  );
  const full = suggestName(
    name,
    pods.map(({ pod }) => pod.metadata.name),
  );
  const suggested = pods.filter(({ pod }) => shortName(pod) === short || pod.metadata.name === full);
  const alike =
    suggested.length > 0 ? suggested : pods.filter(({ pod }) => name !== '' && pod.metadata.name.includes(name));
  return [...new Set(alike.map(({ pod }) => pod.metadata.name))].slice(0, 3);
}
