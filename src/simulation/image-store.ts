import { Subject, type Observable } from 'rxjs';
import type { Image } from '../model/cri/api.ts';
import { fullReference } from '../model/images/full-reference.ts';
import { randomHex, seededRandom } from './seeded-random.ts';

/** What a registry and the node hold of one image. */
export interface SimulatedImage {
  /** Is on the node from the beginning. */
  readonly present?: boolean;
  /** How long fetching it takes, in milliseconds; as the latency of PullImage says unless told. */
  readonly pullTime?: number;
  /** Cannot be fetched, for this reason. */
  readonly pullError?: string;
  /** Bytes. */
  readonly size?: number;
  /** The runtime asks that it be kept. */
  readonly pinned?: boolean;
}

export interface ImageStore {
  /** By name or by id; `undefined` when it is not on the node. */
  readonly find: (reference: string) => Image | undefined;
  readonly all: () => readonly Image[];
  /** Of those that are on the node. */
  readonly names: () => readonly string[];
  /** What is known of an image that may not be there. */
  readonly known: (reference: string) => SimulatedImage;
  readonly fetch: (reference: string) => Image;
  readonly remove: (reference: string) => void;
  /** Emits whenever an image came or went. */
  readonly change$: Observable<unknown>;
}

const SIZE = 4_000_000;

/** Images of the node by name, some of which were `there` before. Those that nobody described can be fetched. */
export function imageStore(
  described: Readonly<Record<string, SimulatedImage>>,
  there: readonly string[] = [],
): ImageStore {
  const known = new Map(Object.entries(described).map(([name, image]) => [fullReference(name), image]));
  const present = new Map<string, Image>();
  const changes = new Subject<undefined>();

  function fetch(reference: string): Image {
    const name = fullReference(reference);
    const { size = SIZE, pinned = false } = known.get(name) ?? {};
    const image = { ...describe(name, size), ...(pinned ? { pinned } : {}) };
    present.set(name, image);
    changes.next(undefined);
    return image;
  }

  function find(reference: string): Image | undefined {
    return present.get(fullReference(reference)) ?? [...present.values()].find(({ id }) => id === reference);
  }

  for (const [name, { present: isPresent }] of known) {
    if (isPresent) fetch(name);
  }
  for (const name of there) fetch(name);
  return {
    find,
    all: () => [...present.values()],
    names: () => [...present.keys()],
    known: (reference) => known.get(fullReference(reference)) ?? {},
    fetch,
    remove: (reference) => {
      const image = find(reference);
      for (const [name, other] of present) if (other === image) present.delete(name);
      changes.next(undefined);
    },
    change$: changes.asObservable(),
  };
}

function describe(name: string, size: number): Image {
  const digest = `sha256:${randomHex(seededRandom(hash(name)), 64)}`;
  const byDigest = name.includes('@');
  const repository = name.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
  return {
    id: digest,
    repoTags: byDigest ? [] : [name],
    repoDigests: [byDigest ? name : `${repository}@${digest}`],
    size,
  };
}

function hash(text: string): number {
  return Array.from(text).reduce((sum, character) => Math.imul(sum, 31) + (character.codePointAt(0) ?? 0), 7);
}
