import type { LinuxContainerSecurityContext } from '../cri/api.ts';
import type { Container, Pod } from '../pod.ts';
import { effectiveSecurity, type SecurityContext } from './effective-security.ts';

/** As whom an image wants to run: a number, or a name that only the image can resolve; the group as `USER` gives it. */
export interface ImageUser {
  readonly uid?: number;
  readonly username?: string;
  readonly group?: string;
}

type RunAs = Pick<LinuxContainerSecurityContext, 'runAsUser' | 'runAsUsername' | 'runAsGroup'>;

/**
 * As whom a container runs (facts sheet 12): the pod has the first word, then the image, and root the last.
 *
 * The group of `USER uid:gid` in the image goes along with its user. The kubelet loses it, and the process runs with
 * group 0 or that of the image's /etc/passwd.
 */
export function runAs({ runAsUser, runAsGroup }: SecurityContext, image: ImageUser): RunAs {
  const given = runAsGroup === undefined ? {} : { runAsGroup: { value: runAsGroup } };
  if (runAsUser !== undefined) return { runAsUser: { value: runAsUser }, ...given };

  const { uid, username = '', group = '' } = image;
  const isNamed = uid === undefined && username !== '';
  const user: RunAs = isNamed ? { runAsUsername: username } : { runAsUser: { value: uid ?? 0 } };
  if (runAsGroup !== undefined || group === '') return { ...user, ...given };
  if (/^\d+$/.test(group)) return { ...user, runAsGroup: { value: Number(group) } };
  return { runAsUsername: `${isNamed ? username : (uid ?? 0)}:${group}` };
}

/** Why a container that must not run as root is not started; `undefined` where it may be (kubelet, verifyRunAsNonRoot). */
export function rootProblem(pod: Pod, container: Container, { uid, username = '' }: ImageUser): string | undefined {
  const { runAsNonRoot, runAsUser } = effectiveSecurity(pod.spec, container);
  if (runAsNonRoot !== true) return undefined;
  const { name, namespace, uid: podUid } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${podUid})", container: ${container.name})`;
  if (runAsUser !== undefined)
    return runAsUser === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  if (uid === undefined && username !== '')
    return `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ${where}`;
  return (uid ?? 0) === 0 ? `container has runAsNonRoot and image will run as root ${where}` : undefined;
}
