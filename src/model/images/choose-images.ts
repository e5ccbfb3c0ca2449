/** An image as the runtime lists it. */
export interface NodeImage {
  readonly id: string;
  /** With tags and with digests; none where another image has got them. */
  readonly names: readonly string[];
  /** Bytes. */
  readonly size: number;
  /** To be kept whoever uses it: sandboxes are made from it, or the runtime says so. */
  readonly pinned: boolean;
  /** A container has it, whether it runs or not. */
  readonly held: boolean;
}

/** Since when an image is known, and since when nobody uses it. Milliseconds of a clock that never jumps; -Infinity: since before the agent. */
export interface ImageHistory {
  readonly firstSeen: number;
  /** As far as looks tell, and rather too late than too early; absent while somebody uses it. */
  readonly unusedSince?: number;
}

export type ImageHistories = ReadonlyMap<string, ImageHistory>;

export interface AgeLimits {
  /** Milliseconds for which an image stays in any case. */
  readonly minimumAge: number;
  /** Milliseconds unused after which it goes although there is room; 0: never. */
  readonly maximumAge: number;
}

/** What is known of the images after a look at them; of those that are gone it is forgotten. `before` is absent at the first. */
export function followImages(
  before: ImageHistories | undefined,
  images: readonly NodeImage[],
  isUsed: (image: NodeImage) => boolean,
  now: number,
): ImageHistories {
  return new Map(
    images.map((image) => {
      const known = before?.get(image.id);
      const firstSeen = known?.firstSeen ?? (before ? now : -Infinity);
      if (isUsed(image)) return [image.id, { firstSeen }];
      return [image.id, { firstSeen, unusedSince: known ? (known.unusedSince ?? now) : firstSeen }];
    }),
  );
}

/** Which images may go. */
export interface Choice {
  /** Unused for too long. */
  readonly aged: readonly NodeImage[];
  /** The others that may go for want of room, in the order in which they do: the longest unused first, then the longest known. */
  readonly spare: readonly NodeImage[];
  /** When the next one will have been unused for too long; Infinity: none. */
  readonly nextAged: number;
}

/**
 * Nothing that is used at this moment, pinned or new is ever chosen. How long an image was unused counts from the
 * start of the agent at the earliest (`begun`): before that nobody looked.
 */
export function chooseImages(
  images: readonly NodeImage[],
  histories: ImageHistories,
  { minimumAge, maximumAge }: AgeLimits,
  { now, begun }: { readonly now: number; readonly begun: number },
): Choice {
  const free = images.flatMap((image) => {
    const { firstSeen, unusedSince } = histories.get(image.id) ?? { firstSeen: now };
    return image.pinned || unusedSince === undefined ? [] : [{ image, firstSeen, unusedSince }];
  });
  const agedAt = ({ unusedSince }: { readonly unusedSince: number }): number =>
    maximumAge === 0 ? Infinity : Math.max(begun, unusedSince) + maximumAge;
  const isAged = (one: { readonly unusedSince: number }): boolean => now >= agedAt(one);
  return {
    aged: free.filter(isAged).map(({ image }) => image),
    spare: free
      .filter((one) => !isAged(one) && now - one.firstSeen >= minimumAge)
      .toSorted((a, b) => order(a.unusedSince, b.unusedSince) || order(a.firstSeen, b.firstSeen))
      .map(({ image }) => image),
    nextAged: Math.min(Infinity, ...free.filter((one) => !isAged(one)).map(agedAt)),
  };
}

/** A difference of two infinities is no number. */
function order(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
