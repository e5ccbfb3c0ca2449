import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  map,
  mergeMap,
  of,
  switchMap,
  throwError,
  type Observable,
} from 'rxjs';
import type { ImageStatusResponse } from '../model/cri/api.ts';
import { messageOf } from '../model/errors.ts';
import type { FailedPull, PodMemory } from '../model/pod-memory.ts';
import type { Container } from '../model/pod.ts';
import { formatGoDuration } from '../model/restart/backoff.ts';
import type { PodNote } from '../streams/workers/pod-work.ts';
import type { LocalImage } from './container-config.ts';

/** Why a container cannot be started; `reason` is what its Waiting state shows. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Images {
  readonly status: (image: string) => Observable<ImageStatusResponse>;
  /** Emits the reference of the pulled image; asks for one image at the same time share one pull. */
  readonly pull: (image: string) => Observable<string>;
}

export type ImageStep =
  | { readonly kind: 'note'; readonly note: PodNote }
  | { readonly kind: 'failedPull'; readonly failure: FailedPull }
  | { readonly kind: 'image'; readonly image: LocalImage };

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 300_000;

/**
 * Brings a container's image to the node, by its pull policy (facts sheet 16).
 *
 * ```text
 * present, IfNotPresent     --(ni|)          n: note   i: image
 * absent                    --n----(ni|)     one pull, however many ask
 * pull fails                --n----(nf#)     f: the failure to remember
 * asked again too soon      --(n#)           ImagePullBackOff
 * ```
 *
 * Emits notes and at last the image; errors with a {@link StartError}.
 */
export function ensureImage(container: Container, memory: PodMemory, images: Images): Observable<ImageStep> {
  const image = withTag(container.image ?? '');
  const policy = container.imagePullPolicy ?? 'IfNotPresent';
  return defer(() => images.status(image)).pipe(
    catchError((error: unknown) =>
      throwError(() => new StartError('ImageInspectError', `Failed to inspect image "${image}": ${messageOf(error)}`)),
    ),
    mergeMap((status): Observable<ImageStep> => {
      const local = localImage(status);
      if (local && policy !== 'Always')
        return of<ImageStep[]>(note('Normal', 'Pulled', `Container image "${image}" already present on machine`), {
          kind: 'image',
          image: local,
        });
      if (policy === 'Never') {
        const message = `Container image "${image}" is not present with pull policy of Never`;
        return concat(
          of(note('Warning', 'ErrImageNeverPull', message)),
          throwError(() => new StartError('ErrImageNeverPull', message)),
        );
      }
      return pull(image, memory.pulls.get(image), images);
    }),
  );
}

function pull(image: string, failed: FailedPull | undefined, images: Images): Observable<ImageStep> {
  return defer((): Observable<ImageStep> => {
    const startedAt = asyncScheduler.now();
    if (failed && isHeldBack(failed, startedAt)) {
      const message = `Back-off pulling image "${image}": ${failed.error}`;
      return concat(
        of(note('Normal', 'BackOff', `Back-off pulling image "${image}"`)),
        throwError(() => new StartError('ImagePullBackOff', message)),
      );
    }
    const pulled$ = images.pull(image).pipe(
      switchMap(() => images.status(image)),
      map(localImage),
      mergeMap((local): Observable<ImageStep> => {
        if (!local) return throwError(() => new Error('the runtime does not show the image that it has pulled'));
        const took = formatSeconds(asyncScheduler.now() - startedAt);
        return of<ImageStep[]>(note('Normal', 'Pulled', `Successfully pulled image "${image}" in ${took}`), {
          kind: 'image',
          image: local,
        });
      }),
      catchError((error: unknown) => {
        const text = messageOf(error);
        const delay = nextDelay(failed, startedAt);
        const failure: FailedPull = { delay, until: asyncScheduler.now() + delay, error: `ErrImagePull: ${text}` };
        return concat(
          of<ImageStep[]>(
            note(
              'Warning',
              'Failed',
              `Failed to pull image "${image}": ${text}; next try in ${formatGoDuration(delay)}`,
            ),
            { kind: 'failedPull', failure },
          ),
          throwError(() => new StartError(reasonOf(text), text)),
        );
      }),
    );
    return concat(of(note('Normal', 'Pulling', `Pulling image "${image}"`)), pulled$);
  });
}

/** A clock that was set back to before the failure ends the wait. */
function isHeldBack({ until, delay }: FailedPull, now: number): boolean {
  return now < until && now >= until - delay;
}

/** Doubles from one failure to the next; after a long quiet the failures before it no longer count. */
function nextDelay(failed: FailedPull | undefined, now: number): number {
  if (!failed || now - (failed.until - failed.delay) > 2 * LONGEST_DELAY) return FIRST_DELAY;
  return Math.min(failed.delay * 2, LONGEST_DELAY);
}

/** What the runtime says first names the reason where the CRI defines one (facts sheet 16). */
function reasonOf(message: string): string {
  return (
    ['RegistryUnavailable', 'SignatureValidationFailed'].find((reason) => message.startsWith(reason)) ?? 'ErrImagePull'
  );
}

/** An image without tag and digest is meant as `latest`. */
export function withTag(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.includes(':') || image.includes('@') ? image : `${image}:latest`;
}

function localImage({ image }: ImageStatusResponse): LocalImage | undefined {
  if (!image?.id) return undefined;
  return {
    ref: image.id,
    ...(image.uid ? { uid: image.uid.value ?? 0 } : {}),
    ...(image.username ? { username: image.username } : {}),
  };
}

function note(level: PodNote['level'], reason: string, message: string): ImageStep {
  return { kind: 'note', note: { level, reason, message } };
}

function formatSeconds(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)}ms` : `${(milliseconds / 1_000).toFixed(3)}s`;
}
