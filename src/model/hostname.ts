const MAX_HOSTNAME = 63;

/** The host name of the pod: `spec.hostname`, else its name, cut to what Linux takes (facts sheet 14). */
export function hostnameOf(podName: string, hostname: string | undefined): string {
  const wanted = hostname !== undefined && hostname !== '' ? hostname : podName;
  return wanted.slice(0, MAX_HOSTNAME).replace(/[-.]+$/, '');
}
