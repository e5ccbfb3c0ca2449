import { EMPTY, filter, map, share, switchMap, timer, type Observable } from 'rxjs';
import type { PodStatus, PodUid } from '../../model/pod.ts';
import type { PodBook } from '../book/pod-book.ts';
import { keepCgroups } from '../cgroups/keep-cgroups.ts';
import { housekeeping, type HousekeepingNote } from '../housekeeping/housekeeping.ts';
import { imageGc, type ImageGcNote } from '../image-gc/image-gc.ts';
import { spareContainers } from '../image-gc/spare-containers.ts';
import { wantsImage } from '../image-gc/wants-image.ts';
import { rotateLogs, type RotationNote } from '../logs/rotate-logs.ts';
import type { World } from './world.ts';

/** What is done on the node beside the work on its pods. */
export interface Upkeep {
  readonly housekeeping$: Observable<HousekeepingNote>;
  /** Keeps the cgroups above those of the pods; emits sentences about what could not be done. */
  readonly cgroup$: Observable<string>;
  /** Rotates the logs of containers; emits what it did, and what it could not do. */
  readonly rotation$: Observable<RotationNote>;
  /** Removes images; emits what it did, and what is wrong. */
  readonly imageGc$: Observable<ImageGcNote>;
}

/** What is known of the pods. */
interface Known {
  readonly book$: Observable<PodBook>;
  /** The last one. */
  readonly book: () => PodBook;
  /** Whether the runtime held anything of the pod when it was last listed. */
  readonly isInRuntime: (uid: PodUid) => boolean;
  /** The same for one container. */
  readonly isHeld: (containerId: string) => boolean;
  /** The status with which a pod was last written to disk. */
  readonly told: (uid: PodUid) => PodStatus | undefined;
}

/** Milliseconds that pods have the node to themselves when the agent starts: the first of them is to run soon. */
const HEAD_START = 1_000;

/**
 * Wires what looks after the node. Pure: it subscribes to nothing, and what the world leaves to others never emits.
 *
 * ```text
 * pods          s--s--s------        s: started
 * the rest       1s   -h-c-r-i-      h: housekeeping, c: cgroups, r: rotation, i: images, a second later
 * ```
 */
export function upkeep(world: World, housekeepingPeriod: number, known: Known): Upkeep {
  const { book$, book, isInRuntime, isHeld, told } = known;
  // Without the book: who waits for the first one, and goes on from there, would hold all that was in it for good.
  const complete$ = book$.pipe(
    filter(isComplete),
    map(() => undefined),
  );
  const isKnown = (uid: PodUid): boolean => book().entries.has(uid) || isInRuntime(uid);
  const { files, paths, unmountVolumes, meter, cgroups, rotation } = world;
  return {
    housekeeping$: afterThePods(
      housekeeping({ files, paths, unmountVolumes, isKnown, isHeld, meter, complete$ }, housekeepingPeriod),
    ),
    cgroup$: afterThePods(cgroups ? keepCgroups(book$, cgroups.port, cgroups.layout, isKnown) : EMPTY),
    imageGc$: afterThePods(
      world.imageGc
        ? imageGc(
            {
              images: world.imageGc.images,
              isWanted: (image) => wantsImage(book(), image),
              spareContainers: () => spareContainers(book(), told),
              removeContainer: world.imageGc.removeContainer,
              complete$,
              monotonic: world.monotonic,
            },
            world.imageGc.limits,
          )
        : EMPTY,
    ).pipe(share()),
    rotation$: afterThePods(rotation ? rotateLogs(book$, rotation.ports, rotation.config) : EMPTY),
  };
}

function afterThePods<T>(upkeep$: Observable<T>): Observable<T> {
  return timer(HEAD_START).pipe(switchMap(() => upkeep$));
}

/** Every source was heard, and the runtime listed. */
function isComplete({ allSeen, runtimeSeen }: PodBook): boolean {
  return allSeen && runtimeSeen;
}
