/** The labels that a node gives itself; what is configured comes on top and may replace them. */
export function nodeLabels(
  nodeName: string,
  architecture: string,
  configured: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': ARCHITECTURES[architecture] ?? architecture,
    ...configured,
  };
}

/** Node's names for what Kubernetes calls otherwise. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** Why a label cannot be given to a node; `undefined` where it can (kubelet, --node-labels). */
export function nodeLabelProblem(name: string, value: string): string | undefined {
  const [prefix, ...rest] = name.split('/');
  const key = rest.length === 0 ? name : rest.join('/');
  if (!NAME.test(key) || (rest.length > 0 && !DOMAIN.test(prefix ?? ''))) return `${name} is no name of a label`;
  if (!VALUE.test(value)) return `${value} is no value of a label`;
  if (rest.length === 0 || ALLOWED.has(name)) return undefined;
  const domain = prefix ?? '';
  if (['kubelet.kubernetes.io', 'node.kubernetes.io'].some((own) => isWithin(domain, own))) return undefined;
  return ['kubernetes.io', 'k8s.io'].some((own) => isWithin(domain, own))
    ? `${name} belongs to Kubernetes, and is none of the labels that a node may give itself`
    : undefined;
}

const NAME = /^[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$/;
const DOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const ALLOWED: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
