import { compareQuantities, parseQuantity, type Quantity } from '../quantity.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { ResourcesDraft } from './draft.ts';
import { qualifiedName } from './syntax.ts';

/** Rules of the requests and limits of a container, or with `podLevel` of a pod. */
export function validateResources(resources: ResourcesDraft, path: FieldPath, report: Report, podLevel = false): void {
  const limits = validateAmounts(resources.limits, [...path, 'limits'], podLevel, report);
  const requests = validateAmounts(resources.requests, [...path, 'requests'], podLevel, report, resources.limits);

  for (const [name, request] of requests) {
    const at = [...path, 'requests', name];
    const limit = limits.get(name);
    if (limit && mayNotOvercommit(name) && compareQuantities(request, limit) !== 0)
      report(at, `must equal the limit of ${name}`);
    else if (limit && compareQuantities(request, limit) > 0) report(at, `must not exceed the limit of ${name}`);
    else if (!limit && mayNotOvercommit(name))
      report([...path, 'limits'], `must have a limit of ${name}, as it is requested`);
  }

  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    report(path, 'must have cpu or memory beside huge pages');
  }
}

function validateAmounts(
  amounts: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  podLevel: boolean,
  report: Report,
  reported: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, Quantity> {
  const valid = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(amounts ?? {})) {
    const at = [...path, name];
    const amount = parseQuantity(text);
    if (!amount) continue;
    const message = wrongName(name, podLevel) ?? wrongAmount(name, amount);
    if (message === undefined) valid.set(name, amount);
    // A request that defaulted to its limit is nobody's mistake of its own.
    else if (reported[name] !== text) report(at, message);
  }
  return valid;
}

function wrongName(name: string, podLevel: boolean): string | undefined {
  if (podLevel) {
    return name === 'cpu' || name === 'memory' || isHugePages(name)
      ? undefined
      : 'is no resource of a whole pod: cpu, memory, hugepages-<size>';
  }
  const syntax = qualifiedName(name);
  if (syntax !== undefined) return `the name of a resource ${syntax}`;
  if (!name.includes('/')) {
    return STANDARD.includes(name) || isHugePages(name)
      ? undefined
      : `is no resource that Kubernetes knows: ${STANDARD.join(', ')}, hugepages-<size>, or a name with a domain`;
  }
  return name.startsWith('requests.') ? 'the name of an extended resource must not begin with requests.' : undefined;
}

function wrongAmount(name: string, amount: Quantity): string | undefined {
  if (amount.nano < 0n) return 'must not be negative';
  if (isExtended(name) && amount.nano % ONE !== 0n) return 'must be a whole number';
  if (!isHugePages(name)) return undefined;
  const size = parseQuantity(name.slice(HUGE_PAGES.length));
  if (!size || size.nano <= 0n) return 'must name a page size, as hugepages-2Mi';
  return amount.nano % size.nano === 0n ? undefined : 'must be a multiple of the page size';
}

function mayNotOvercommit(name: string): boolean {
  return isHugePages(name) || isExtended(name);
}

function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** A resource of somebody else's domain, as `vendor.example/gpu`. */
function isExtended(name: string): boolean {
  return name.includes('/') && !/(?:^|\.)kubernetes\.io\//.test(name);
}

const STANDARD = ['cpu', 'memory', 'ephemeral-storage'];
const HUGE_PAGES = 'hugepages-';
const ONE = 1_000_000_000n;
