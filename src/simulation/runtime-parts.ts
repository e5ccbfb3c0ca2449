import type { Observable } from 'rxjs';
import { RuntimeError } from '../model/errors.ts';
import type { Calls } from './calls.ts';
import type { ContainerLogs } from './container-logs.ts';
import type { ImageStore } from './image-store.ts';
import type { Machine } from './machine.ts';

/** What the calls of a simulated runtime work on. */
export interface RuntimeParts {
  readonly calls: Calls;
  readonly machine: Machine;
  readonly images: ImageStore;
  readonly logs: ContainerLogs;
  /** Whether the runtime tells what happens to containers; containerd 1.6 does not. */
  readonly hasEvents: boolean;
  readonly networkReady: () => boolean;
}

/** Milliseconds until an answer is not waited for any more (facts sheet 1.6). */
export const DEADLINE = 120_000;

/** A call that answers with what `act` returns, or fails as it throws, and takes no time of its own. */
export function asks<T>(calls: Calls, name: string, request: unknown, act: () => T, deadline?: number): Observable<T> {
  return calls.call({ name, request, deadline: deadline ?? DEADLINE, act });
}

/** A call whose answer says nothing. */
export function does(calls: Calls, name: string, request: unknown, act: () => void): Observable<undefined> {
  return asks(calls, name, request, () => {
    act();
    return undefined;
  });
}

export function find<T>(call: string, things: ReadonlyMap<string, T>, id: string | undefined): T {
  const thing = things.get(id ?? '');
  if (!thing) throw new RuntimeError('notFound', call, `there is no ${id ?? 'object without an id'}`);
  return thing;
}

export function refusal(call: string, message: string): RuntimeError {
  return new RuntimeError('refused', call, message);
}
