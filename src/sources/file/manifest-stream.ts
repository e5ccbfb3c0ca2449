import {
  catchError,
  combineLatest,
  concat,
  concatMap,
  connect,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  interval,
  map,
  merge,
  mergeMap,
  of,
  scan,
  share,
  startWith,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { deepEqual } from '../../model/deep-equal.ts';
import type { Desired } from '../../model/desired.ts';
import { messageOf } from '../../model/errors.ts';
import { conflateMap } from '../../operators/conflate-map.ts';
import type { FileMemory, FileMemoryStore } from './file-memory.ts';
import { foldManifests, initialState, type ManifestState } from './fold-manifests.ts';
import { SETTLE_TIME } from './look-at-file.ts';
import { loadMemory, saveMemory, withTroubles } from './remember.ts';
import type { ManifestScan } from './scan-manifests.ts';

export interface FileSourceConfig {
  /** A directory of manifests, or one manifest file. It may be missing, for now. */
  readonly path: string;
  readonly nodeName: string;
  /** Milliseconds between two looks at the path that nothing prompted. */
  readonly fileCheckFrequency: number;
}

export interface ManifestPorts {
  /** Emits hints that something may have changed; may error, and is then watched anew. */
  readonly watch: () => Observable<unknown>;
  /** Looks once, reading only what changed since the former look. */
  readonly scan: (former: ManifestScan | undefined) => Observable<ManifestScan>;
  /** Keeps the memory over restarts of the agent; without it there is none. */
  readonly store?: FileMemoryStore;
}

/**
 * The file source without the file system: looks at the start, on every hint and every `fileCheckFrequency` ms, never
 * twice at once, and emits what the manifests want whenever that changed.
 *
 * ```text
 * watch     --x-x----------------x----
 * scan      a-b-b-------b--------c----   on every hint, and now and then
 * result    A-B------------------C----   only what changed
 * ```
 */
export function manifestStream(
  config: FileSourceConfig,
  { watch, scan: look, store }: ManifestPorts,
): Observable<Desired> {
  return defer(() => {
    const watch$ = keepWatching(watch).pipe(share());
    const hint$ = watch$.pipe(filter(({ trouble }) => trouble === undefined));
    const watchTrouble$ = watch$.pipe(
      map(({ trouble }) => trouble && `cannot be watched, so changes show late: ${trouble}`),
    );
    const state$ = (memory: FileMemory | undefined): Observable<ManifestState> =>
      // The watch stands before the first look, so that nothing is missed between the two.
      merge(hint$, interval(config.fileCheckFrequency), of(undefined)).pipe(
        lookAgain(look),
        scan((state, seen) => foldManifests(state, seen, config), initialState(memory)),
      );

    return loadMemory(store).pipe(
      concatMap((memory) =>
        state$(memory).pipe(
          connect((shared$) =>
            combineLatest([
              shared$.pipe(map(({ desired }) => desired)),
              watchTrouble$.pipe(startWith(undefined)),
              saveMemory(shared$.pipe(map(({ memory }) => memory)), store),
            ]),
          ),
        ),
      ),
      map(([desired, ...troubles]): Desired => withTroubles(desired, config.path, troubles)),
      distinctUntilChanged<Desired>(deepEqual),
    );
  });
}

interface WatchNews {
  readonly trouble?: string;
}

/** Watches anew after an error, with a delay that grows from 1 s to 20 s while watching does not succeed. */
function keepWatching(watch: () => Observable<unknown>): Observable<WatchNews> {
  return defer(() => {
    let failures = 0;
    const attempt$ = (): Observable<WatchNews> =>
      defer(watch).pipe(
        tap(() => {
          failures = 0;
        }),
        map((): WatchNews => ({})),
        catchError((error: unknown) => {
          const delay = Math.min(20_000, 1_000 * 2 ** failures);
          failures += 1;
          return concat(of({ trouble: messageOf(error) }), timer(delay).pipe(concatMap(attempt$)));
        }),
      );
    return attempt$();
  });
}

/** One look at a time; hints that arrive meanwhile are one more look after it. Files that may be half written are looked at again. */
function lookAgain(look: ManifestPorts['scan']): (hint$: Observable<unknown>) => Observable<ManifestScan> {
  return (hint$) =>
    defer(() => {
      let former: ManifestScan | undefined;
      const lookUntilSettled$ = (): Observable<ManifestScan> =>
        look(former).pipe(
          tap((seen) => {
            if (seen.kind === 'read') former = seen;
          }),
          mergeMap((seen) => {
            const again$ =
              seen.kind === 'read' && seen.unsettled ? timer(SETTLE_TIME).pipe(concatMap(lookUntilSettled$)) : EMPTY;
            return concat(of(seen), again$);
          }),
        );
      return hint$.pipe(
        conflateMap({
          work: () => lookUntilSettled$(),
          recover: (error): ManifestScan => ({ kind: 'failed', message: messageOf(error) }),
        }),
      );
    });
}
