import { allContainers } from '../containers.ts';
import type { PodSpec } from '../pod.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';

const RESOURCE = 'hugepages-';
const MEDIUM = 'HugePages-';

/** The page size that a medium means, as `2Mi`, or what is wrong with it. */
export type HugePageSize =
  { readonly kind: 'size'; readonly size: string } | { readonly kind: 'wrong'; readonly message: string };

/**
 * The page size of an emptyDir in huge pages. `HugePages` alone means the one size that the pod asks for;
 * `HugePages-2Mi` names one of those it asks for (Kubernetes, emptyDir medium).
 */
export function hugePageSize(spec: PodSpec, medium: string): HugePageSize {
  const asked = sizesOf(spec);
  if (medium === 'HugePages') {
    const [size, ...others] = asked;
    if (size === undefined) return wrong('the pod asks for no hugepages');
    return others.length === 0 ? { kind: 'size', size } : wrong('the pod asks for hugepages of more than one size');
  }
  const size = canonical(medium.slice(MEDIUM.length));
  if (size === undefined) return wrong(`the medium ${JSON.stringify(medium)} names no page size`);
  return asked.includes(size) ? { kind: 'size', size } : wrong(`the pod asks for no hugepages-${size}`);
}

/** Whether a medium of an emptyDir is one of huge pages. */
export function isHugePages(medium: string): boolean {
  return medium === 'HugePages' || medium.startsWith(MEDIUM);
}

function sizesOf(spec: PodSpec): readonly string[] {
  const names = [spec, ...allContainers(spec)].flatMap(({ resources }) => [
    ...Object.keys(resources?.requests ?? {}),
    ...Object.keys(resources?.limits ?? {}),
  ]);
  const sizes = names
    .filter((name) => name.startsWith(RESOURCE))
    .map((name) => canonical(name.slice(RESOURCE.length)))
    .filter((size) => size !== undefined);
  return [...new Set(sizes)];
}

function canonical(text: string): string | undefined {
  const quantity = parseQuantity(text);
  return quantity && quantity.nano > 0n ? formatQuantity(quantity) : undefined;
}

function wrong(message: string): HugePageSize {
  return { kind: 'wrong', message };
}
