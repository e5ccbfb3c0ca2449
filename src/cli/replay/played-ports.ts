import { defer, finalize, Subject, type Observable } from 'rxjs';
import type { PerformContext } from '../../runtime/perform-context.ts';
import type { Ground } from '../recording/line.ts';
import type { Ask } from './asks.ts';

type Played = Pick<
  PerformContext,
  | 'cri'
  | 'files'
  | 'mounts'
  | 'volumeFiles'
  | 'userNamespaces'
  | 'images'
  | 'http'
  | 'objects$'
  | 'cgroups'
  | 'forgetTask'
>;

/** The ports of an agent that is replayed: every call is told to `asked`, and answered by whoever has it from there. */
export function playedPorts(
  has: Ground['has'],
  ask: (to: string, args: readonly unknown[]) => Omit<Ask, 'answer' | 'isOver'>,
  asked: (ask: Ask) => void,
): Played {
  function call(to: string, args: readonly unknown[]): Observable<never> {
    return defer(() => {
      const one: Ask = { ...ask(to, args), answer: new Subject(), isOver: false };
      asked(one);
      return one.answer.pipe(
        finalize(() => {
          one.isOver = true;
        }),
      ) as Observable<never>;
    });
  }

  /** Whatever is called of it. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- it is whatever port is wanted
  function port<Port extends object>(name: string): Port {
    return new Proxy({} as Port, {
      get:
        (_, member) =>
        (...args: readonly unknown[]) =>
          call(`${name}.${String(member)}`, args),
    });
  }

  return {
    cri: port('cri'),
    files: port('files'),
    mounts: port('mounts'),
    volumeFiles: port('volumeFiles'),
    images: port('images'),
    http: port('http'),
    userNamespaces: (uid) => call('userNamespaces', [uid]),
    objects$: call('objects$', []),
    ...(has.includes('cgroups') && { cgroups: port<NonNullable<Played['cgroups']>>('cgroups') }),
    ...(has.includes('forgetTask') && { forgetTask: (id: string) => call('forgetTask', [id]) }),
  };
}
