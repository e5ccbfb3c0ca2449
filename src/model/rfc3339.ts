/** A moment (milliseconds since 1970) as Kubernetes writes it with fractions: UTC, no trailing zeros (Go, RFC3339Nano). */
export function rfc3339Nano(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}

/** The same to whole seconds, as Kubernetes writes times of the status (Go, RFC3339). */
export function rfc3339(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
