import { stringify } from 'yaml';

/** A value as a YAML document, equal parts written out each time. */
export function stringifyYaml(value: unknown): string {
  return stringify(value, { aliasDuplicateObjects: false });
}
