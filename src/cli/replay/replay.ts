import { concat, defer, last, map, merge, mergeMap, of, takeWhile, throwError, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { Header, Line, TimedLine } from '../recording/line.ts';
import { describeLine } from './describe-line.ts';
import type { Parting } from './parting.ts';
import { player, type Player } from './player.ts';
import { RecordingError, type RecordedPart } from './read-recording.ts';

/** Where a replay parts from its recording. Times are milliseconds since 1970. */
export interface Divergence extends Parting {
  readonly at: number;
  /** In the file. */
  readonly line: number;
  /** What was heard and done before, about this pod or about all, the last of it last. */
  readonly before: readonly Before[];
}

interface Before {
  readonly at: number;
  readonly line: number;
  readonly text: string;
}

export interface Replayed {
  readonly header: Pick<Header, 'rxlet' | 'at' | 'node'>;
  /** Lines that were replayed. */
  readonly lines: number;
  /** Milliseconds of the recording that were replayed. */
  readonly lasted: number;
  /** What was heard: events of the book, answers, failures, answers to probes. */
  readonly inputs: number;
  /** What was decided: work handed out, changes of phases and statuses, calls, reports. */
  readonly decisions: number;
  /** The recording ends in the midst of a line. */
  readonly isCut: boolean;
  /** Absent: all that was decided then is decided now, and nothing else. */
  readonly divergence?: Divergence;
}

/** Lines that are remembered, to tell what led to a divergence, and as many of them as are told. */
const MEMORY = 2_000;
const TOLD = 12;

interface State {
  readonly header: Header;
  readonly player: Player;
  readonly memory: {
    readonly line: TimedLine & { readonly t: number };
    readonly number: number;
    readonly pod?: string;
  }[];
  lines: number;
  lasted: number;
  inputs: number;
  decisions: number;
  isCut: boolean;
  isOver: boolean;
  divergence?: Divergence;
}

/**
 * Replays a recording in virtual time, up to the first divergence or `until` (milliseconds from its beginning). Emits
 * once and completes. Errors with a {@link RecordingError} where the file cannot be understood.
 */
export function replay(
  part$: Observable<RecordedPart>,
  file: string,
  until: number = Number.POSITIVE_INFINITY,
): Observable<Replayed> {
  return defer(() => {
    let state: State | undefined;
    return concat(part$, of(undefined)).pipe(
      mergeMap((part): Observable<State> => {
        if (!part) {
          if (!state) return throwError(() => new RecordingError(`${file}: this is no recording: it is empty`));
          state.isOver = true;
          return of(state);
        }
        if (state) return of(advance(state, part, file, until));
        const { header } = part;
        const made: State = {
          header,
          player: player(header),
          memory: [],
          lines: 1,
          lasted: 0,
          inputs: 0,
          decisions: 0,
          isCut: false,
          isOver: false,
        };
        state = made;
        // The agent that decides now lives until the recording is over.
        return merge(
          made.player.live$,
          defer(() => of(advance(made, part, file, until))),
        );
      }),
      takeWhile(({ isOver }) => !isOver, true),
      // eslint-disable-next-line rxjs-x/no-ignored-default-value -- there is a header, or an error
      last(),
      map(({ header: { rxlet, at, node }, lines, lasted, inputs, decisions, isCut, divergence }) => ({
        header: { rxlet, at, node },
        lines,
        lasted,
        inputs,
        decisions,
        isCut,
        ...(divergence && { divergence }),
      })),
    );
  });
}

function advance(state: State, { first, lines, isCut }: RecordedPart, file: string, until: number): State {
  for (const [index, line] of lines.entries()) {
    try {
      step(state, line, first + index, until);
    } catch (error) {
      if (error instanceof RecordingError) throw error;
      throw new RecordingError(`${file}:${first + index}: this line cannot be understood: ${messageOf(error)}`);
    }
    if (state.isOver) return state;
  }
  state.isCut = isCut;
  return state;
}

function step(state: State, line: Line, number: number, until: number): void {
  const { player: played, header } = state;
  if (line.k === 'def') {
    state.lines++;
    played.define(line.n, line.v);
    return;
  }
  if (line.t > until) {
    state.isOver = true;
    return;
  }
  state.lines++;
  state.lasted = line.t;
  const parting = played.play(line);
  if (parting) {
    state.isOver = true;
    state.divergence = { ...parting, at: header.at + line.t, line: number, before: beforeOf(state, parting.pod) };
    return;
  }
  count(state, line);
  const pod = played.podOf(line);
  state.memory.push({ line, number, ...(pod !== undefined && { pod }) });
  if (state.memory.length > 2 * MEMORY) state.memory.splice(0, MEMORY);
}

function count(state: State, line: TimedLine): void {
  switch (line.k) {
    case 'page':
      state.inputs++;
      if (Object.keys(line.decided as object).length > 0) state.decisions++;
      return;
    case 'answer':
    case 'error':
    case 'probe':
      state.inputs++;
      return;
    case 'call':
    case 'report':
    case 'begin':
      state.decisions++;
      return;
    default:
  }
}

function beforeOf({ memory, header, player: { read } }: State, pod: string | undefined): readonly Before[] {
  return memory
    .filter((one) => pod === undefined || one.pod === undefined || one.pod === pod)
    .flatMap(({ line, number }) => {
      const text = describeLine(line, read);
      return text === undefined ? [] : [{ at: header.at + line.t, line: number, text }];
    })
    .slice(-TOLD);
}
