/** Of a directory only these are manifests; hidden files are not. */
export function isManifestName(name: string): boolean {
  return /^[^.].*\.(?:yaml|yml|json)$/.test(name);
}
