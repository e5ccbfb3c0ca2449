import type { V1PodDNSConfig } from '@kubernetes/client-node';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { Draft, PodSpecDraft } from './draft.ts';
import { obeys, oneOf, required } from './rules.ts';
import { dnsLabel, dnsSubdomain, ipAddress, type Syntax } from './syntax.ts';

/** Rules of host names, DNS and additional hosts. */
export function validateNetwork(spec: PodSpecDraft, path: FieldPath, report: Report): void {
  const at = (...steps: FieldPath): FieldPath => [...path, ...steps];
  obeys(report, at('hostname'), spec.hostname, dnsLabel);
  obeys(report, at('subdomain'), spec.subdomain, dnsLabel);
  const override = spec.hostnameOverride;
  if (override !== undefined) {
    obeys(report, at('hostnameOverride'), override, dnsSubdomain);
    if (override.length > 64)
      report(at('hostnameOverride'), 'must be at most 64 characters, as Linux knows no longer host name');
    if (spec.hostNetwork === true) report(at('hostnameOverride'), 'must not be given in a pod with hostNetwork');
    if (spec.setHostnameAsFQDN === true) report(at('hostnameOverride'), 'must not be given beside setHostnameAsFQDN');
  }
  spec.hostAliases?.forEach(({ ip, hostnames }, index) => {
    if (required(report, at('hostAliases', index, 'ip'), ip))
      obeys(report, at('hostAliases', index, 'ip'), ip, ipAddress);
    hostnames?.forEach((name, i) => {
      obeys(report, at('hostAliases', index, 'hostnames', i), name, dnsSubdomain);
    });
  });

  oneOf(report, at('dnsPolicy'), spec.dnsPolicy, ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']);
  if (spec.dnsPolicy === 'None' && (spec.dnsConfig?.nameservers ?? []).length === 0) {
    report(at('dnsConfig', 'nameservers'), 'must have at least one name server with the dnsPolicy None');
  }
  if (spec.dnsConfig) validateDnsConfig(spec.dnsConfig, at('dnsConfig'), report);
}

function validateDnsConfig(
  { nameservers = [], searches = [], options = [] }: Draft<V1PodDNSConfig>,
  path: FieldPath,
  report: Report,
): void {
  if (nameservers.length > 3) report([...path, 'nameservers'], 'must not have more than 3 name servers');
  nameservers.forEach((address, index) => {
    if (required(report, [...path, 'nameservers', index], address))
      obeys(report, [...path, 'nameservers', index], address, ipAddress);
  });
  if (searches.length > 32) report([...path, 'searches'], 'must not have more than 32 domains');
  if (searches.join(' ').length > 2048) report([...path, 'searches'], 'must not be longer than 2048 characters in all');
  searches.forEach((domain, index) => {
    obeys(report, [...path, 'searches', index], domain, searchDomain);
  });
  options.forEach(({ name }, index) => {
    required(report, [...path, 'options', index, 'name'], name);
  });
}

/** A domain whose parts may have underscores; `.` and a dot at the end stand for the root. */
const searchDomain: Syntax = (text) =>
  text === '.'
    ? undefined
    : dnsSubdomain(
        text
          .replace(/\.$/, '')
          .replaceAll('_', '-')
          .replaceAll(/(^|\.)-/g, '$1x')
          .replaceAll(/-(?=\.|$)/g, 'x'),
      );
