import { catchError, concat, defaultIfEmpty, defer, distinctUntilChanged, map, of, take, type Observable } from 'rxjs';
import { deepEqual } from '../../model/deep-equal.ts';
import type { Desired, Problem } from '../../model/desired.ts';
import { messageOf } from '../../model/errors.ts';
import { conflateMap } from '../../operators/conflate-map.ts';
import { isFileMemory, withoutSecrets, type FileMemory, type FileMemoryStore } from './file-memory.ts';

/** What is kept, once; `undefined` where nothing is, or where it cannot be read. Never errors. */
export function loadMemory(store: FileMemoryStore | undefined): Observable<FileMemory | undefined> {
  if (!store) return of(undefined);
  return defer(store.load).pipe(
    map((memory) => (isFileMemory(memory) ? memory : undefined)),
    catchError(() => of(undefined)),
    defaultIfEmpty(undefined),
    take(1),
  );
}

/** Saves every change of the memory, the newest one only while a save is under way, and emits what is wrong with saving. */
export function saveMemory(
  memory$: Observable<FileMemory>,
  store: FileMemoryStore | undefined,
): Observable<string | undefined> {
  if (!store) return of(undefined);
  const trouble$ = memory$.pipe(
    map(withoutSecrets),
    distinctUntilChanged<FileMemory>(deepEqual),
    conflateMap<FileMemory, string | undefined>({
      work: (memory) => store.save(memory).pipe(map(() => undefined)),
      recover: (error) => `cannot be remembered over a restart of the agent: ${messageOf(error)}`,
    }),
  );
  return concat(of(undefined), trouble$);
}

/** The set with what is wrong around the manifests themselves. */
export function withTroubles(desired: Desired, origin: string, troubles: readonly (string | undefined)[]): Desired {
  const { source } = desired;
  const problems = troubles.flatMap((message): Problem[] =>
    message === undefined ? [] : [{ source, origin, message }],
  );
  return problems.length > 0 ? { ...desired, problems: [...desired.problems, ...problems] } : desired;
}
