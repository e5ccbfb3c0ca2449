import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  endWith,
  from,
  map,
  merge,
  mergeMap,
  of,
  switchMap,
  takeWhile,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import { authsFor, describePullSecrets, NO_PULL_SECRETS, type PullSecrets } from '../model/credentials/pull-secrets.ts';
import type { AuthConfig, ImageStatusResponse, PodSandboxConfig } from '../model/cri/api.ts';
import { messageOf } from '../model/errors.ts';
import { imageNameProblem } from '../model/images/image-name.ts';
import { imageGroup } from '../model/image-group.ts';
import type { FailedPull, PodMemory } from '../model/pod-memory.ts';
import type { Container } from '../model/pod.ts';
import type { PodNote } from '../streams/workers/pod-work.ts';
import type { LocalImage } from '../model/local-image.ts';

/** Why a container cannot be started; `reason` is what its Waiting state shows. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: string;
  /** What its event says. */
  readonly told: string;

  constructor(reason: string, message: string, told: string = message) {
    super(message);
    this.reason = reason;
    this.told = told;
  }
}

/** The event names the reason only: another one has told the rest. */
function imageError(reason: string, message: string): StartError {
  return new StartError(reason, message, reason);
}

/** A pull that has succeeded. */
export interface Pulled {
  readonly ref: string;
  /** Milliseconds that it took, without the wait for its turn. */
  readonly took: number;
}

/** For whom an image is brought: runtimes are told, and may heed it. */
export interface ImagePod {
  readonly annotations: Readonly<Record<string, string>>;
  /** Asked for only when a pull begins; emits once, `undefined` where the sandbox cannot be told. */
  readonly sandbox$: Observable<PodSandboxConfig | undefined>;
}

export interface PullAsk {
  readonly image: string;
  readonly pod: ImagePod;
  /** What the pod brings along, tried before what the node knows. */
  readonly auths?: readonly AuthConfig[];
}

export interface Images {
  /** Verbose, since only so the runtime tells of the group that an image runs as. */
  readonly status: (image: string, pod: ImagePod) => Observable<ImageStatusResponse>;
  /** Emits once; asks for one image at the same time share one pull. */
  readonly pull: (ask: PullAsk) => Observable<Pulled>;
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
export function ensureImage(
  container: Container,
  memory: PodMemory,
  pod: ImagePod,
  images: Images,
  secrets: PullSecrets = NO_PULL_SECRETS,
): Observable<ImageStep> {
  const asked = container.image ?? '';
  const policy = container.imagePullPolicy ?? 'IfNotPresent';
  const problem = imageNameProblem(asked);
  if (problem !== undefined) {
    const message = `Failed to apply default image tag "${asked}": couldn't parse image name "${asked}": ${problem}`;
    return noted('InspectFailed', message, 'InvalidImageName');
  }
  const image = withTag(asked);
  return defer(() => images.status(image, pod)).pipe(
    catchError((error: unknown) => {
      const message = `Failed to inspect image "${asked}": ${messageOf(error)}`;
      return throwError(() => imageError('ImageInspectError', message));
    }),
    mergeMap((status): Observable<ImageStep> => {
      const local = localImage(status);
      if (local && policy !== 'Always')
        return of<ImageStep[]>(note('Normal', 'Pulled', `Container image "${asked}" already present on machine`), {
          kind: 'image',
          image: local,
        });
      if (policy === 'Never') {
        const message = `Container image "${asked}" is not present with pull policy of Never`;
        return noted('ErrImageNeverPull', message, 'ErrImageNeverPull');
      }
      return pull(asked, memory.pulls.get(image), pod, images, secrets);
    }),
    catchError((error: unknown) => {
      if (!(error instanceof StartError) || error.reason !== 'ImageInspectError') return throwError(() => error);
      return concat(
        of(note('Warning', 'InspectFailed', error.message)),
        throwError(() => error),
      );
    }),
  );
}

/** Tells what is wrong in an event of its own, and gives up. */
function noted(event: string, message: string, reason: string): Observable<ImageStep> {
  return concat(
    of(note('Warning', event, message)),
    throwError(() => imageError(reason, message)),
  );
}

function pull(
  asked: string,
  failed: FailedPull | undefined,
  pod: ImagePod,
  images: Images,
  secrets: PullSecrets,
): Observable<ImageStep> {
  const image = withTag(asked);
  return defer((): Observable<ImageStep> => {
    const startedAt = asyncScheduler.now();
    if (failed && isHeldBack(failed, secrets.version, startedAt)) {
      const message = `Back-off pulling image "${asked}": ${failed.error}`;
      return concat(
        of(note('Normal', 'BackOff', `Back-off pulling image "${asked}"`)),
        throwError(() => imageError('ImagePullBackOff', message)),
      );
    }
    const pulled$ = images.pull({ image, pod, auths: authsFor(secrets, image) }).pipe(
      switchMap(({ took }) => images.status(image, pod).pipe(map((status) => ({ took, status })))),
      mergeMap(({ took, status }): Observable<ImageStep> => {
        const local = localImage(status);
        if (!local) return throwError(() => new Error('the runtime does not show the image that it has pulled'));
        const times = `${formatSeconds(took)} (${formatSeconds(asyncScheduler.now() - startedAt)} including waiting)`;
        const size = `Image size: ${status.image?.size ?? 0} bytes.`;
        return of<ImageStep[]>(note('Normal', 'Pulled', `Successfully pulled image "${asked}" in ${times}. ${size}`), {
          kind: 'image',
          image: local,
        });
      }),
      catchError((error: unknown) => {
        const text = `${messageOf(error)}${describePullSecrets(secrets)}`;
        const reason = reasonOf(text);
        const delay = nextDelay(failed, startedAt);
        const { version } = secrets;
        const failure: FailedPull = {
          delay,
          until: asyncScheduler.now() + delay,
          error: `${reason}: ${text}`,
          ...(version > 0 && { objects: version }),
        };
        return concat(
          of<ImageStep[]>(
            {
              kind: 'note',
              note: {
                level: 'Warning',
                reason: 'Failed',
                message: `Failed to pull image "${asked}": ${text}`,
                nextTry: delay,
              },
            },
            { kind: 'failedPull', failure },
          ),
          throwError(() => imageError(reason, text)),
        );
      }),
    );
    const progress$ = timer(PATIENCE, PATIENCE).pipe(
      map(() => note('Normal', 'Pulling', `Still pulling image "${asked}"`)),
    );
    return concat(
      from(missingSecrets(secrets)),
      of(note('Normal', 'Pulling', `Pulling image "${asked}"`)),
      merge(pulled$.pipe(endWith(undefined)), progress$).pipe(takeWhile((step) => step !== undefined)),
    );
  });
}

function missingSecrets({ missing }: PullSecrets): readonly ImageStep[] {
  if (missing.length === 0) return [];
  const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
  return [note('Warning', 'FailedToRetrieveImagePullSecret', message)];
}

/** Milliseconds between two words of a pull that takes long. */
const PATIENCE = 30_000;

/** A clock that was set back to before the failure ends the wait, and so do other pull secrets. */
function isHeldBack({ until, delay, objects = 0 }: FailedPull, version: number, now: number): boolean {
  return now < until && now >= until - delay && objects === version;
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

function localImage({ image, info }: ImageStatusResponse): LocalImage | undefined {
  if (!image?.id) return undefined;
  const group = imageGroup(info);
  return {
    ref: image.id,
    ...(image.uid ? { uid: image.uid.value ?? 0 } : {}),
    ...(image.username ? { username: image.username } : {}),
    ...(group === undefined ? {} : { group }),
  };
}

function note(level: PodNote['level'], reason: string, message: string): ImageStep {
  return { kind: 'note', note: { level, reason, message } };
}

function formatSeconds(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)}ms` : `${(milliseconds / 1_000).toFixed(3)}s`;
}
