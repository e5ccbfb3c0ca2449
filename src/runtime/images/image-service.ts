import { asyncScheduler, catchError, defer, forkJoin, map, of, switchMap, throwError, type Observable } from 'rxjs';
import type { AuthConfig, ImageSpec, PodSandboxConfig } from '../../model/cri/api.ts';
import { messageOf, RuntimeError } from '../../model/errors.ts';
import { pace, type Pace } from '../../operators/pace.ts';
import { shareByKey } from '../../operators/share-by-key.ts';
import { takeTurns } from '../../operators/take-turns.ts';
import type { Credentials } from '../../streams/ports/credentials.ts';
import type { Cri } from '../../streams/ports/cri.ts';
import type { Images, PullAsk, Pulled } from '../ensure-image.ts';

export interface PullLimits extends Pace {
  /** Pulls that go on at the same time. */
  readonly parallel: number;
}

/**
 * The images of the node: looks at them, and pulls them within limits and with what is known of their registries.
 *
 * ```text
 * lookUp    (ab|)                a, b: two credentials for the registry
 * with a    --#
 * with b      ---(r|)
 * result    -----(r|)            the first that the registry takes
 * ```
 *
 * Asks for one image at the same time share one pull, which is made for the pod that asked first. Where no credential is known it is tried without; where none is
 * taken, the error is that of the last.
 */
export function imageService(
  { imageStatus, pullImage }: Pick<Cri, 'imageStatus' | 'pullImage'>,
  { lookUp }: Credentials,
  limits: PullLimits,
): Images {
  const limited = { turns: takeTurns(limits.parallel), pace: pace(limits) };

  function pull({ image, pod, auths = [] }: PullAsk): Observable<Pulled> {
    const pulled$ = defer(() => {
      const begun = asyncScheduler.now();
      return forkJoin([lookUp(image), pod.sandbox$]).pipe(
        switchMap(([known, sandboxConfig]) =>
          withAny(specOf(image, pod.annotations), sandboxConfig, [...auths, ...known]),
        ),
        map((ref): Pulled => ({ ref, took: asyncScheduler.now() - begun })),
      );
    });
    return limited.turns(limited.pace(pulled$));
  }

  function withAny(
    image: ImageSpec,
    sandboxConfig: PodSandboxConfig | undefined,
    [auth, ...others]: readonly AuthConfig[],
  ): Observable<string> {
    const request = { image, ...(auth ? { auth } : {}), ...(sandboxConfig ? { sandboxConfig } : {}) };
    const pulled$ = defer(() => pullImage(request)).pipe(map(({ imageRef }) => imageRef ?? ''));
    if (others.length === 0) return pulled$.pipe(catchError((error: unknown) => throwError(() => told(error))));
    return pulled$.pipe(catchError(() => withAny(image, sandboxConfig, others)));
  }

  return {
    status: (image, { annotations }) => imageStatus({ image: specOf(image, annotations), verbose: true }),
    // Whoever brings other credentials along may be let in where another is not.
    pull: shareByKey(pull, ({ image, auths = [] }) => JSON.stringify([image, auths])),
  };
}

/** A runtime may choose by the annotations of the pod where and how it keeps the image. */
function specOf(image: string, annotations: Readonly<Record<string, string>>): ImageSpec {
  return { image, annotations };
}

/** The status that gRPC gave goes before the text, unless it says nothing (facts sheet 16). */
function told(error: unknown): unknown {
  if (!(error instanceof RuntimeError) || error.status === undefined || error.status === 'Unknown') return error;
  return new Error(`rpc error: code = ${error.status} desc = ${messageOf(error)}`);
}

/** For a node on which nobody knows the registries. */
export const NO_CREDENTIALS: Credentials = { lookUp: () => of([]) };
