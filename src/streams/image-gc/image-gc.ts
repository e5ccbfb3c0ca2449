import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  map,
  mergeMap,
  of,
  repeat,
  switchMap,
  take,
  timer,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { PodUid } from '../../model/pod.ts';
import {
  chooseImages,
  followImages,
  type AgeLimits,
  type ImageHistories,
  type NodeImage,
} from '../../model/images/choose-images.ts';
import {
  isShort,
  NO_SHORTAGE,
  shortageOn,
  usedPercent,
  type ImageDisk,
  type RoomLimits,
  type Shortage,
} from '../../model/images/image-room.ts';
import type { NodeImages } from '../ports/node-images.ts';
import type { SpareContainer } from './spare-containers.ts';

export interface ImageGcLimits extends RoomLimits, AgeLimits {}

export interface ImageGcPorts {
  readonly images: NodeImages;
  /** Whether a pod asks for an image, though no container has it yet; asked anew before each removal. */
  readonly isWanted: (image: NodeImage) => boolean;
  /** Containers that nobody needs any more, as far as is known. */
  readonly spareContainers: () => readonly SpareContainer[];
  /** Removes one, with its log; emits when that is done. */
  readonly removeContainer: (spare: SpareContainer) => Observable<unknown>;
  /** Emits when it is known what all pods ask for. */
  readonly complete$: Observable<unknown>;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
}

/** What became of images, and of what holds them. */
export type ImageGcNote =
  | { readonly kind: 'removed'; readonly image: NodeImage; readonly reason: 'age' | 'space' }
  | ({ readonly kind: 'cleared' } & SpareContainer)
  /** Something is wrong with the disk or with making room on it; `isEvent`: and worth an event of the node. */
  | {
      readonly kind: 'trouble';
      readonly reason:
        'ContainerGCFailed' | 'EvictionThresholdMet' | 'FreeDiskSpaceFailed' | 'ImageGCFailed' | 'InvalidDiskCapacity';
      readonly message: string;
      readonly isEvent: boolean;
    };

/** Milliseconds between two looks at how full the disk is (kubelet: 10 s for its thresholds, 5 min for the usual share). */
const LOOK = 10_000;
/** Between two looks at the images, and after one that did not help. */
const PERIOD = 300_000;
const SOONEST = 1_000;

/**
 * Removes images that nobody uses: for want of room the longest unused first, and those unused for too long.
 *
 * ```text
 * disk      1   1   3 2 1   1      3: as full as it may be; 1: there is room
 * looks     ^---^---^-^-^---^      ten seconds apart, and one after each removal
 * result    ----------r-r----      r: an image removed
 * ```
 *
 * Never one that a container has or a pod asks for, one that is pinned, or a new one. Where a threshold of eviction is
 * passed, containers that nobody needs go before them: they hold images, too. Never errors, never completes.
 */
export function imageGc(ports: ImageGcPorts, limits: ImageGcLimits): Observable<ImageGcNote> {
  const { images, isWanted, spareContainers, removeContainer, complete$, monotonic } = ports;
  return defer(() => {
    const begun = monotonic();
    let histories: ImageHistories | undefined;
    let listAt = -Infinity;
    let roomAt = -Infinity;
    /** When it may be told again that there is too little, where that is found out every few seconds. */
    let newsAt = -Infinity;
    let isStarved = false;
    let hasFailed = false;
    /** Containers that were removed and are still shown. */
    const cleared = new Set<string>();
    /** Containers that the runtime did not remove, and those that stay for their sake. */
    const refused = new Set<string>();

    function look(): Observable<ImageGcNote> {
      return images.disk().pipe(
        concatMap((disk) => {
          const [shortage, note$] = judge(disk);
          const now = monotonic();
          if (now >= roomAt) refused.clear();
          const spare = shortage.starved === undefined ? [] : untried();
          const makesRoom = isShort(shortage) && (now >= roomAt || spare.length > 0);
          const cleared$ = makesRoom ? clear(spare) : EMPTY;
          const list$ = makesRoom || now >= listAt ? collect(makesRoom) : EMPTY;
          return concat(note$, cleared$, list$);
        }),
        catchError((error: unknown) => {
          const isEvent = hasFailed; // one failure may be a runtime that is just starting
          hasFailed = true;
          listAt = roomAt = monotonic() + PERIOD;
          return of(trouble('ImageGCFailed', `images could not be looked through: ${messageOf(error)}`, isEvent));
        }),
      );
    }

    function judge(disk: ImageDisk | undefined): readonly [Shortage, Observable<ImageGcNote>] {
      if (!disk) return [NO_SHORTAGE, EMPTY];
      if (disk.capacity <= 0) {
        const isNews = monotonic() >= roomAt;
        if (isNews) roomAt = monotonic() + PERIOD;
        const message = 'the file system of the images says that it can hold nothing';
        return [NO_SHORTAGE, isNews ? of(trouble('InvalidDiskCapacity', message)) : EMPTY];
      }
      const shortage = shortageOn(disk, limits);
      const isNews = shortage.starved !== undefined && !isStarved;
      isStarved = shortage.starved !== undefined;
      const message = `Attempting to reclaim ${shortage.starved ?? ''}`;
      return [shortage, isNews ? of(trouble('EvictionThresholdMet', message)) : EMPTY];
    }

    /** What may go and has not gone, nor been refused since room was last looked for in earnest. */
    function untried(): readonly SpareContainer[] {
      const spare = spareContainers();
      const shown = new Set(spare.map(({ container }) => container.id));
      for (const id of cleared) if (!shown.has(id)) cleared.delete(id);
      return spare.filter(({ container }) => !cleared.has(container.id) && !refused.has(container.id));
    }

    function clear(spare: readonly SpareContainer[]): Observable<ImageGcNote> {
      const stuck = new Set<PodUid>();
      return from(spare).pipe(concatMap((one) => removeSpare(one, stuck)));
    }

    /** Where one of a pod stays, the newer ones do too: the state of the pod would be that of an older one. */
    function removeSpare(spare: SpareContainer, stuck: Set<PodUid>): Observable<ImageGcNote> {
      const { pod, container } = spare;
      return defer(() => {
        if (!stuck.has(pod.metadata.uid)) return removeContainer(spare);
        refused.add(container.id);
        return EMPTY;
      }).pipe(
        map((): ImageGcNote => {
          cleared.add(container.id);
          return { kind: 'cleared', ...spare };
        }),
        catchError((error: unknown) => {
          stuck.add(pod.metadata.uid);
          refused.add(container.id);
          const name = `${container.name} of ${pod.metadata.namespace}/${pod.metadata.name}`;
          return of(trouble('ContainerGCFailed', `container ${name} could not be removed: ${messageOf(error)}`, false));
        }),
      );
    }

    function collect(isWanting: boolean): Observable<ImageGcNote> {
      return images.list().pipe(
        concatMap((all) => {
          const now = monotonic();
          histories = followImages(histories, all, (image) => image.held || isWanted(image), now);
          const { aged, spare, nextAged } = chooseImages(all, histories, limits, { now, begun });
          listAt = Math.min(now + Math.min(PERIOD, limits.maximumAge || PERIOD), nextAged);
          hasFailed = false;
          const aged$ = from(aged).pipe(concatMap((image) => remove(image, 'age')));
          if (!isWanting) return aged$;
          // What only a pod asks for may be free soon: of one that is done, nobody knows that yet when the agent has just started.
          const pause = all.some((image) => !image.held && isWanted(image)) ? LOOK : PERIOD;
          const room$ = defer(images.disk).pipe(concatMap((disk) => (disk ? makeRoom(disk, spare, pause) : EMPTY)));
          return concat(aged$, room$);
        }),
      );
    }

    /**
     * As many as must be: what an image really frees is only seen on the disk, and there sometimes late. Where they are not
     * enough, it is tried again after `pause` milliseconds.
     */
    function makeRoom(disk: ImageDisk, spare: readonly NodeImage[], pause: number): Observable<ImageGcNote> {
      let left = shortageOn(disk, limits);
      let freed = 0;
      const enough = disk.available + left.bytes;
      function look(note: ImageGcNote): Observable<ImageGcNote> {
        if (note.kind !== 'removed') return of(note);
        const { size } = note.image;
        return images.disk().pipe(
          map((after = disk) => {
            freed += size;
            const bytes = Math.max(0, Math.min(enough - after.available, left.bytes - size));
            left = { bytes, inodes: shortageOn(after, limits).inodes };
            return note;
          }),
        );
      }
      const removed$ = from(spare).pipe(
        concatMap((image) => defer(() => (isShort(left) ? remove(image, 'space') : EMPTY)).pipe(mergeMap(look))),
      );
      const failed$ = defer(() => {
        if (!isShort(left)) return EMPTY;
        const now = monotonic();
        roomAt = now + pause;
        if (pause < PERIOD && now < newsAt) return EMPTY;
        newsAt = now + PERIOD;
        return of(trouble('FreeDiskSpaceFailed', insufficient(disk, freed)));
      });
      return concat(removed$, failed$);
    }

    function remove(image: NodeImage, reason: 'age' | 'space'): Observable<ImageGcNote> {
      return defer(() =>
        isWanted(image)
          ? EMPTY
          : images.remove(image).pipe(
              map((): ImageGcNote => ({ kind: 'removed', image, reason })),
              catchError((error: unknown) => {
                const name = image.names[0] ?? image.id;
                return of(trouble('ImageGCFailed', `image ${name} could not be removed: ${messageOf(error)}`, false));
              }),
            ),
      );
    }

    const next = (): number => Math.min(LOOK, Math.max(SOONEST, listAt - monotonic()));
    return complete$.pipe(
      take(1),
      switchMap(() => defer(look).pipe(repeat({ delay: () => timer(next()) }))),
    );
  });
}

function trouble(
  reason: Extract<ImageGcNote, { kind: 'trouble' }>['reason'],
  message: string,
  isEvent = true,
): ImageGcNote {
  return { kind: 'trouble', reason, message, isEvent };
}

function insufficient(disk: ImageDisk, freed: number): string {
  const share = `${usedPercent(disk)}% of ${disk.capacity} bytes used`;
  return `Insufficient free disk space on the node's image filesystem (${share}). Images that nobody uses gave ${freed} bytes, which is not enough: remove files, or make the disk larger.`;
}
