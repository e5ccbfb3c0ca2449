import type { CaseResult } from '../compare-case.ts';
import type { Difference } from '../allowed-differences.ts';

/** The rule by which a pod runs that was refused at the recording. */
export const CAN_MORE = 'the-runtime-can-more';

/** Differences that show only on a real node, judged by fields as those of `allowed-differences.ts`. */
const RULES: readonly {
  readonly rule: string;
  readonly reason: string;
  readonly covers: (difference: Difference, all: readonly Difference[]) => boolean;
}[] = [
  {
    rule: 'group-of-the-image',
    reason: 'An image with USER uid:gid gives its containers that group; the kubelet loses it.',
    covers: ({ pod, path, expected, got }, all) => {
      const isAsked = (value: unknown): boolean =>
        all.some(
          (other) =>
            other.pod === pod &&
            GROUP_ASKED.test(other.path) &&
            other.expected === undefined &&
            JSON.stringify(other.got) === JSON.stringify({ value }),
        );
      if (GROUP_ASKED.test(path)) return expected === undefined;
      return GROUP_SHOWN.test(path) && expected === 0 && isAsked(got);
    },
  },
  {
    rule: 'sysctls-of-the-runtime',
    reason:
      'containerd 2 lets every pod use low ports and ping, and notes that beside the sysctls that it was asked for.',
    covers: ({ measure, path, expected, got }) =>
      measure === 'requests' &&
      expected === undefined &&
      ((path.endsWith('.linux.sysctls.net.ipv4.ip_unprivileged_port_start') && got === '0') ||
        (path.endsWith('.linux.sysctls.net.ipv4.ping_group_range') && got === '0 2147483647')),
  },
  {
    rule: CAN_MORE,
    reason:
      'The runtime of the recording had no recursive read-only mounts, for which the pod was refused; this one has.',
    covers: ({ pod }, all) =>
      all.some(
        (other) =>
          other.pod === pod &&
          other.path.endsWith('.state.waiting') &&
          JSON.stringify(other.expected ?? '').includes('but it is not supported by the runtime') &&
          other.got === undefined,
      ),
  },
  {
    rule: 'place-of-an-image-volume',
    reason: 'The runtime notes where it mounted an image beside the mount that it was asked for.',
    covers: ({ path, expected, got }) =>
      expected === undefined &&
      path.endsWith('.host_path') &&
      /^"\/run\/containerd\/.*\/image-volumes\//.test(JSON.stringify(got)),
  },
  {
    rule: 'held-to-its-disk',
    reason:
      'A pod that takes more of the disk than it may is evicted and begins anew; standalone, the kubelet lets it.',
    covers: ({ pod, path, expected, got }, all) =>
      (path.startsWith('status.') ||
        (expected === undefined && /^sandboxes\.[1-9]/.test(path)) ||
        (got === 'made' && /^containers\.[^.]+'$/.test(path))) &&
      all.some(
        (other) =>
          other.pod === pod &&
          other.path === 'status.message' &&
          other.expected === undefined &&
          OVER_LIMIT.test(JSON.stringify(other.got ?? '')),
      ),
  },
  {
    rule: 'containerd-1.6-says-more',
    reason: 'containerd 1.6 ends the message of what could not be started with the code of the error.',
    covers: ({ path, expected, got }) =>
      process.env['RXLET_RUNTIME'] === '1.6' &&
      path.endsWith('.message') &&
      typeof expected === 'string' &&
      got === `${expected}: unknown`,
  },
  {
    rule: 'streams-of-a-log-overtake-each-other',
    reason: 'What a process writes to stdout and to stderr at one moment comes into its log in any order.',
    covers: ({ path, expected, got }) => {
      const lines = (text: unknown): string => String(text).split('\n').toSorted().join('\n');
      return path.endsWith('.terminated.message') && lines(expected) === lines(got);
    },
  },
  {
    rule: 'containerd-1.6-knows-less',
    reason: 'The CRI of containerd 1.6 has no place for what a user called an image, and tells no users.',
    covers: ({ path, got }) =>
      process.env['RXLET_RUNTIME'] === '1.6' &&
      got === undefined &&
      (path.endsWith('.image.user_specified_image') || /^status\.\w+\.[^.]+\.user$/.test(path)),
  },
];

const OVER_LIMIT = /^"(?:Usage of EmptyDir volume|Pod ephemeral local storage usage|Container \S+ exceeded its local)/;
const GROUP_ASKED = /^containers\.[^.]+\.linux\.security_context\.run_as_group$/;
const GROUP_SHOWN = /^status\.containerStatuses\.[^.]+\.user\.linux\.(?:gid|supplementalGroups\.0)$/;

/** Allows what only a real runtime can tell, and counts anew what is equal. */
export function judgeReal(result: CaseResult): CaseResult {
  const differences = result.differences.map((difference) => {
    if (difference.rule !== undefined) return difference;
    const rule = RULES.find(({ covers }) => covers(difference, result.differences))?.rule;
    return rule === undefined ? difference : { ...difference, rule };
  });
  const isEqual = (measure: Difference['measure']): boolean =>
    differences.every((each) => each.measure !== measure || each.rule !== undefined);
  return {
    ...result,
    differences,
    equal: { ...result.equal, requests: isEqual('requests'), statuses: isEqual('statuses') },
  };
}
