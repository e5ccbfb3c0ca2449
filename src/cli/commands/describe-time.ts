/** `2026-01-31 12:00:00 UTC` for a time of the API; what never was is `-`. */
export function describeTime(time: string | undefined): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '-' : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
