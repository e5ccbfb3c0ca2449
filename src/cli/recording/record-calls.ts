import { defer, isObservable, tap, type Observable } from 'rxjs';
import type { ContainerStatusResponse } from '../../model/cri/api.ts';
import { SECRET_IN_COMMAND } from '../../model/cri/labels.ts';
import { plainEnd } from '../../model/env/secret-in-command.ts';
import type { TimedLine } from './line.ts';
import type { Tape } from './tape.ts';

export interface RecordedCalls {
  readonly port: Tape['port'];
  /** The work or look named goes on now: what is called meanwhile is called by it. */
  readonly goesOn: (id: number | undefined) => void;
}

interface CallPorts {
  readonly line: (
    kind: TimedLine['k'],
    plain: Readonly<Record<string, unknown>>,
    values?: Readonly<Record<string, string | undefined>>,
  ) => void;
  /** A value as JSON; `undefined` where there is nothing to say. */
  readonly textOf: (value: unknown) => string | undefined;
  /** What stands for the objects that are answered. */
  readonly masked: (objects: unknown) => unknown;
}

/** Puts down calls, by whom they are made as far as that is known, and what comes of them. */
export function recordCalls({ line, textOf, masked }: CallPorts): RecordedCalls {
  const valueOf = (value: unknown): string => textOf(value) ?? 'null';
  let calls = 0;
  let current: number | undefined;

  function called(to: string, args: readonly unknown[], make: (args: readonly unknown[]) => Observable<unknown>) {
    return defer(() => {
      const n = ++calls;
      const id = current;
      line('call', { n, to, ...(id !== undefined && { id }) }, { args: valueOf(args) });
      return make(to.startsWith('images.') ? args.map((arg) => wanting(arg, n)) : args).pipe(
        tap({
          next: (value) => {
            current = id;
            line('answer', { n }, { value: textOf(toldBy(to, value)) });
          },
          error: (error: unknown) => {
            current = id;
            line('error', { n }, { error: valueOf(error) });
          },
          complete: () => {
            current = id;
            line('done', { n });
          },
          unsubscribe: () => {
            line('dropped', { n });
          },
        }),
      );
    });
  }

  function toldBy(to: string, value: unknown): unknown {
    if (to === 'objects$') return masked(value);
    return to === 'cri.containerStatus' ? withoutComplaint(value as ContainerStatusResponse) : value;
  }

  /** The one question that is left open: for which sandbox an image is pulled. */
  function wanting(arg: unknown, n: number): unknown {
    if (typeof arg !== 'object' || arg === null) return arg;
    if ('pod' in arg) return { ...arg, pod: wanting(arg.pod, n) };
    if (!('sandbox$' in arg)) return arg;
    const open$ = arg.sandbox$ as Observable<unknown>;
    const sandbox$ = defer(() => {
      line('wants', { n });
      return open$;
    });
    return { ...arg, sandbox$ };
  }

  function port<Port extends object>(name: string, plain: Port): Port {
    if (typeof plain === 'function') return heard(name, plain) as unknown as Port;
    if (isObservable(plain)) return called(name, [], () => plain) as unknown as Port;
    const members = Object.entries(plain).map(([member, value]) => [
      member,
      typeof value === 'function' ? heard(`${name}.${member}`, value as Call) : (value as unknown),
    ]);
    return Object.fromEntries(members) as Port;
  }

  function heard(to: string, call: Call): Call {
    return (...args) => called(to, args, (given) => call(...given));
  }

  return {
    port,
    goesOn: (id) => {
      current = id;
    },
  };
}

/** What the runtime says of a command with a Secret in it may be heard before any Secret is, so no value can be told from the rest. */
function withoutComplaint(answer: ContainerStatusResponse): ContainerStatusResponse {
  const { status } = answer;
  if (!status?.message || !(SECRET_IN_COMMAND in (status.annotations ?? {}))) return answer;
  return { ...answer, status: { ...status, message: plainEnd(status.message) } };
}

type Call = (...args: readonly unknown[]) => Observable<unknown>;
