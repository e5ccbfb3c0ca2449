/** A map that is being changed; what it was made from stays as it is. */
export interface MapDraft<K, V> extends ReadonlyMap<K, V> {
  readonly set: (key: K, value: V) => void;
  readonly delete: (key: K) => void;
  /** The keys that were set or deleted. */
  readonly touched: ReadonlySet<K>;
  /** What it is like now, for good. */
  readonly finish: () => ReadonlyMap<K, V>;
}

/** Maps up to this size are copied as they are. */
const SMALL = 128;
/** So many times the root of its size is what a map may differ from the one below it. */
const SPREAD = 4;

const GONE = Symbol('gone');

/** A map as the differences to one that is shared by many versions of it. */
interface Draft<K, V> {
  base: ReadonlyMap<K, V>;
  over: Map<K, V | typeof GONE>;
  size: number;
  /** Stands for the base. */
  mark: object;
  /** What sets the base apart from the one before it, of which nothing but the mark is kept. */
  origin?: { readonly mark: object; readonly keys: ReadonlySet<K> };
}

type Layers<K, V> = Readonly<Draft<K, V>>;

type Resizable<M extends { readonly size: number }> = Omit<M, 'size'> & { size: number };

const LAYERS = new WeakMap<object, unknown>();

/**
 * Lets a map be changed without copying all of it: what is made of a large map shares all with it but the changes, so
 * that a change costs as much as the root of its size. Order is that of a `Map`.
 */
export function draftOf<K, V>(before: ReadonlyMap<K, V>): MapDraft<K, V> {
  const known = layersOf(before) ?? { base: before, size: before.size, mark: {} };
  const now: Draft<K, V> = { ...known, over: new Map(layersOf(before)?.over) };
  const touched = new Set<K>();

  function resize(size: number): void {
    now.size = size;
    draft.size = size;
  }

  function flatten(): void {
    now.origin = { mark: now.mark, keys: new Set(now.over.keys()) };
    now.base = copyOf(now);
    now.over = new Map();
    now.mark = {};
  }

  function set(key: K, value: V): void {
    touched.add(key);
    if (now.over.get(key) === GONE) flatten(); // it comes back at the end, as in any map
    if (!hasIn(now, key)) resize(now.size + 1);
    now.over.set(key, value);
  }

  function remove(key: K): void {
    if (!hasIn(now, key)) return;
    touched.add(key);
    resize(now.size - 1);
    if (now.base.has(key)) now.over.set(key, GONE);
    else now.over.delete(key);
  }

  function finish(): ReadonlyMap<K, V> {
    if (touched.size === 0) return before;
    if (now.size <= SMALL) return copyOf(now);
    if (now.over.size > SPREAD * Math.sqrt(now.size)) flatten();
    const layers = { ...now };
    const map = readable(layers);
    LAYERS.set(map, layers);
    return map;
  }

  const draft: Resizable<MapDraft<K, V>> = Object.assign(readable(now), { set, delete: remove, touched, finish });
  return draft;
}

/** The keys whose values are not the same in both maps; cheap where one was made of the other not long ago. */
export function changedKeys<K, V>(before: ReadonlyMap<K, V>, after: ReadonlyMap<K, V>): readonly K[] {
  if (before === after) return [];
  const found: K[] = [];
  const near = keysBetween(layersOf(before), layersOf(after));
  if (near) {
    for (const key of near) if (before.get(key) !== after.get(key)) found.push(key);
    return found;
  }
  for (const key of before.keys()) if (!after.has(key)) found.push(key);
  for (const [key, value] of after) if (before.get(key) !== value) found.push(key);
  return found;
}

/** All keys in which they may differ, where that is known. */
function keysBetween<K, V>(
  before: Layers<K, V> | undefined,
  after: Layers<K, V> | undefined,
): ReadonlySet<K> | undefined {
  if (!before || !after) return undefined;
  const keys = new Set([...before.over.keys(), ...after.over.keys()]);
  if (before.mark === after.mark) return keys;
  if (after.origin?.mark !== before.mark) return undefined;
  for (const key of after.origin.keys) keys.add(key);
  return keys;
}

function layersOf<K, V>(map: ReadonlyMap<K, V>): Layers<K, V> | undefined {
  return LAYERS.get(map) as Layers<K, V> | undefined;
}

/** A plain map: that below it as it is, which costs little, and then the changes. */
function copyOf<K, V>({ base, over }: Layers<K, V>): Map<K, V> {
  const copy = new Map(base);
  for (const [key, value] of over) {
    if (value === GONE) copy.delete(key);
    else copy.set(key, value);
  }
  return copy;
}

/** Its size is no getter: with one, an object takes V8 ten times as long to make. */
function readable<K, V>(layers: Layers<K, V>): ReadonlyMap<K, V> {
  const map: ReadonlyMap<K, V> = {
    get: (key) => {
      const value = layers.over.get(key);
      if (value === GONE) return undefined;
      return value === undefined ? layers.base.get(key) : value;
    },
    has: (key) => hasIn(layers, key),
    size: layers.size,
    entries: () => entriesIn(layers),
    keys: () => keysIn(layers),
    values: () => valuesIn(layers),
    forEach: (callback) => {
      for (const [key, value] of entriesIn(layers)) callback(value, key, map);
    },
    [Symbol.iterator]: () => entriesIn(layers),
  };
  return map;
}

function hasIn<K, V>({ base, over }: Layers<K, V>, key: K): boolean {
  const value = over.get(key);
  if (value === undefined && !over.has(key)) return base.has(key);
  return value !== GONE;
}

function* entriesIn<K, V>({ base, over }: Layers<K, V>): MapIterator<[K, V]> {
  for (const [key, value] of base) {
    const now = over.size > 0 && over.has(key) ? (over.get(key) as V | typeof GONE) : value;
    if (now !== GONE) yield [key, now];
  }
  for (const [key, value] of over) if (value !== GONE && !base.has(key)) yield [key, value];
}

function* keysIn<K, V>(layers: Layers<K, V>): MapIterator<K> {
  for (const [key] of entriesIn(layers)) yield key;
}

function* valuesIn<K, V>(layers: Layers<K, V>): MapIterator<V> {
  for (const [, value] of entriesIn(layers)) yield value;
}
