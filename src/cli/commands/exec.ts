import { pipeline, type Duplex, type Readable, type Writable } from 'node:stream';
import { Observable, switchMap } from 'rxjs';
import type { NodeView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import type { ExecOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { withSession, type Session } from '../spdy/open-session.ts';
import { askAgent } from './ask-agent.ts';
import { chooseContainer } from './choose-container.ts';
import { findPod } from './find-pod.ts';
import { writeThrough } from './write-through.ts';

/** The terminal or the pipes of who runs the command. */
export interface Standard {
  /** Asked for only where it is to be read. */
  readonly stdin: () => Readable & { readonly isTTY?: boolean; readonly setRawMode?: (raw: boolean) => unknown };
  readonly stdout: Writable & { readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable;
  /** How the process is to end. */
  readonly exitWith: (code: number) => void;
}

/** How shells end with what SIGINT has ended. */
const INTERRUPTED = 130;

/**
 * `rxlet exec` and, without a command, `rxlet attach`: joins this terminal to a process in a container. Emits nothing;
 * completes when the process has ended, and then ours is to end with the same exit code. Errors with a
 * {@link CliError} where there is none to join. Unsubscribing leaves the process to itself.
 */
export function exec(options: ExecOptions, standard: Standard): Observable<never> {
  return askAgent<NodeView>(options.socket, '/rxlet/view').pipe(
    switchMap((view) => {
      const [pod] = findPod(view, options);
      const { container, note } = chooseContainer(pod, options.container);
      standard.stderr.write(note);
      const ends = endsOf(options, standard);
      const { namespace, name } = pod.pod.metadata;
      const query = new URLSearchParams(options.command.map((word): [string, string] => ['command', word]));
      const wishes = { input: ends.input !== undefined, output: true, error: !ends.tty, tty: ends.tty };
      for (const [wish, isWanted] of Object.entries(wishes)) if (isWanted) query.set(wish, '1');
      const path = `/${options.command.length > 0 ? 'exec' : 'attach'}/${namespace}/${name}/${container}?${query.toString()}`;
      return withSession(options.socket, path, 'v4.channel.k8s.io', (session) => joined(session, ends, standard));
    }),
  );
}

interface Ends {
  readonly input: ReturnType<Standard['stdin']> | undefined;
  readonly tty: boolean;
}

function endsOf(options: ExecOptions, { stdin, stderr }: Standard): Ends {
  const input = options.stdin ? stdin() : undefined;
  const isPossible = input === undefined || input.isTTY === true;
  if (options.tty && !isPossible) stderr.write('rxlet: standard input is no terminal, so that -t has no effect\n');
  return { input, tty: options.tty && isPossible };
}

function joined(session: Session, { input, tty }: Ends, { stdout, stderr, exitWith }: Standard): Observable<never> {
  return new Observable((observer) => {
    let left = tty ? 2 : 3;
    let status = '';
    let isOver = false;
    function ended(): void {
      left -= 1;
      if (left > 0) return;
      isOver = true;
      if (status === '') {
        observer.error(new CliError(EXIT_CODES.noAgent, 'the connection broke off before the command had ended'));
        return;
      }
      const { code, message } = endOf(status);
      if (message !== '') stderr.write(`rxlet: ${message}\n`);
      exitWith(code);
      observer.complete();
    }

    const news = session.open({ streamtype: 'error' });
    news.on('data', (chunk: Buffer) => (status += chunk.toString()));
    news.on('close', ended);
    news.end();
    if (input) pipeline(input, session.open({ streamtype: 'stdin' }).resume(), () => undefined);
    pipeline(hear(session, 'stdout'), writeThrough(stdout), ended);
    if (!tty) pipeline(hear(session, 'stderr'), writeThrough(stderr), ended);

    const size = tty ? session.open({ streamtype: 'resize' }).resume() : undefined;
    function resize(): void {
      size?.write(JSON.stringify({ Width: stdout.columns ?? 80, Height: stdout.rows ?? 24 }));
    }
    if (tty) {
      input?.setRawMode?.(true);
      resize();
      stdout.on('resize', resize);
    }
    return () => {
      stdout.off('resize', resize);
      if (tty) input?.setRawMode?.(false);
      input?.destroy();
      if (!isOver) exitWith(INTERRUPTED);
    };
  });
}

/** A stream on which only the other end speaks. */
function hear(session: Session, streamtype: string): Duplex {
  return session.open({ streamtype }).end();
}

/** Reads the last word of the protocol, a Kubernetes Status. */
export function endOf(text: string): { readonly code: number; readonly message: string } {
  const status = JSON.parse(text) as {
    readonly status?: string;
    readonly message?: string;
    readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
  };
  if (status.status === 'Success') return { code: 0, message: '' };
  const code = Number(status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message);
  return Number.isInteger(code) ? { code, message: '' } : { code: 1, message: status.message ?? 'the command failed' };
}
