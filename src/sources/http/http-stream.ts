import {
  catchError,
  combineLatest,
  concatMap,
  connect,
  defaultIfEmpty,
  defer,
  distinctUntilChanged,
  expand,
  filter,
  map,
  of,
  take,
  timeout,
  timer,
  type Observable,
} from 'rxjs';
import { deepEqual } from '../../model/deep-equal.ts';
import type { Desired } from '../../model/desired.ts';
import { messageOf } from '../../model/errors.ts';
import type { FileMemory, FileMemoryStore } from '../file/file-memory.ts';
import { foldManifests, initialState, type ManifestState } from '../file/fold-manifests.ts';
import { loadMemory, saveMemory, withTroubles } from '../file/remember.ts';
import { readAnswer, type FetchManifests, type HttpFailure, type HttpReading } from './http-answer.ts';

export interface HttpStreamConfig {
  /** The URL as it may be shown. */
  readonly url: string;
  readonly nodeName: string;
  /** Milliseconds from an answer to the next question. */
  readonly httpCheckFrequency: number;
  /** Milliseconds in which an answer has to be complete. */
  readonly timeout: number;
  /** Milliseconds after the first failure; each further one in a row doubles it, at most to `httpCheckFrequency`. */
  readonly firstRetry: number;
}

export interface HttpStreamPorts {
  readonly fetch: FetchManifests;
  /** From 0 to 1: where in the second half of a delay a retry comes, so that not all nodes ask at once. */
  readonly random: () => number;
  /** Keeps the memory over restarts of the agent; without it there is none. */
  readonly store?: FileMemoryStore;
}

/**
 * What a URL wants to run: asks at the start and every `httpCheckFrequency` ms, sooner after a failure, and emits
 * whenever pods or problems changed.
 *
 * ```text
 * answers   a---##-#---a---b---     #: none, or one that cannot be used   period 4, first retry 1
 * result    A---F------A---B---     F: what A wants, and a problem
 * ```
 *
 * The last good set stays in force over every failure, and with a store over restarts of the agent. While nothing is
 * known at all the result says that it is unheard. Never errors, never completes.
 */
export function httpStream(config: HttpStreamConfig, { fetch, random, store }: HttpStreamPorts): Observable<Desired> {
  const ask$ = (before: Round): Observable<Round> =>
    defer(() => fetch(before.reading?.validators ?? {})).pipe(
      take(1),
      timeout({ first: config.timeout }),
      map((answer) => readAnswer(answer, before.reading)),
      catchError((error: unknown) => of(failureOf(error, config))),
      defaultIfEmpty(failureOf(new Error('there is no answer'), config)),
      map((news) => turn(before, news, config)),
    );
  const round$ = (memory: FileMemory | undefined): Observable<Round> =>
    ask$({ manifests: initialState(memory), isHeard: memory !== undefined, failures: 0 }).pipe(
      expand((round) => timer(pauseAfter(round, config, random)).pipe(concatMap(() => ask$(round)))),
    );

  return loadMemory(store).pipe(
    concatMap((memory) =>
      round$(memory).pipe(
        connect((shared$) =>
          combineLatest([
            shared$.pipe(map(desiredOf)),
            saveMemory(
              shared$.pipe(
                filter(({ isHeard }) => isHeard),
                map(({ manifests }) => manifests.memory),
              ),
              store,
            ),
          ]),
        ),
      ),
    ),
    map(([desired, trouble]) => withTroubles(desired, config.url, [trouble])),
    distinctUntilChanged<Desired>(deepEqual),
  );
}

/** What is known after an answer. */
interface Round {
  readonly manifests: ManifestState;
  /** The last answer that could be decoded. */
  readonly reading?: HttpReading;
  /** Whether anything is known of what is wanted. */
  readonly isHeard: boolean;
  /** How many failures in a row it has been. */
  readonly failures: number;
}

function turn(before: Round, news: HttpReading | HttpFailure, { url, nodeName }: HttpStreamConfig): Round {
  const options = { path: url, nodeName, source: 'http' } as const;
  if (news.kind === 'failed')
    return { ...before, manifests: foldManifests(before.manifests, news, options), failures: before.failures + 1 };
  const files = [{ path: url, inode: 0n, content: news.content }];
  const manifests = foldManifests(before.manifests, { kind: 'read', files, unsettled: false }, options);
  const { pods, objects = [], problems } = manifests.desired;
  const isUsable = problems.length === 0 || pods.length + objects.length > 0;
  return { manifests, reading: news, isHeard: before.isHeard || isUsable, failures: 0 };
}

function desiredOf({ manifests: { desired }, isHeard }: Round): Desired {
  return isHeard ? desired : { source: 'http', unheard: true, pods: [], problems: desired.problems };
}

function pauseAfter(
  { failures }: Round,
  { httpCheckFrequency, firstRetry }: HttpStreamConfig,
  random: () => number,
): number {
  if (failures === 0) return httpCheckFrequency;
  const pause = Math.min(httpCheckFrequency, firstRetry * 2 ** (failures - 1));
  return pause * (0.5 + random() / 2);
}

function failureOf(error: unknown, { timeout: limit }: HttpStreamConfig): HttpFailure {
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  return {
    kind: 'failed',
    message: isLate ? `there is no complete answer within ${limit / 1_000} s` : messageOf(error),
  };
}
