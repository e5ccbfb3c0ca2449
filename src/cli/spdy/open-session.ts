import { request, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { dematerialize, materialize, Observable, switchMap } from 'rxjs';
import { CliError } from '../cli-error.ts';
import { unreachable } from '../commands/ask-agent.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { dataFrames, endFrame, frameReader, openFrame, pingFrame, resetFrame, type Frame } from './frames.ts';

/** A connection to a process or a pod, with any number of streams on it. */
export interface Session {
  /** Opens a stream; what is written to it waits until the other end has taken it. Headers have names in lower case. */
  readonly open: (headers: Readonly<Record<string, string>>) => Duplex;
}

/**
 * Opens a session over the agent's socket for as long as it is used: emits, completes and errors as its use does, and
 * then hangs up. Streams that have not ended when the other end hangs up are destroyed. Errors with a {@link CliError}
 * where the session is refused.
 */
export function withSession<T>(
  socketPath: string,
  path: string,
  protocol: string,
  use: (session: Session) => Observable<T>,
): Observable<T> {
  return openSession(socketPath, path, protocol).pipe(
    switchMap((session) => use(session).pipe(materialize())),
    dematerialize(),
  );
}

/** Emits it once; completes when the other end has hung up. Unsubscribing hangs up. */
function openSession(socketPath: string, path: string, protocol: string): Observable<Session> {
  return new Observable((observer) => {
    let hangUp: (() => void) | undefined;
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
    const call = request({ socketPath, path, method: 'POST', agent: false, headers });
    call.on('upgrade', (_answer, connection, head) => {
      hangUp = () => connection.destroy();
      connection.on('close', () => {
        observer.complete();
      });
      observer.next(session(connection));
      if (head.length > 0) connection.unshift(head);
    });
    call.on('response', (answer) => {
      refusalOf(answer, (text) => {
        observer.error(new CliError(EXIT_CODES.usage, text));
      });
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      observer.error(unreachable(socketPath, error));
    });
    call.end();
    return () => {
      hangUp?.();
      call.destroy();
    };
  });
}

/** Bytes of a refusal that are read. */
const MOST_TEXT = 64 * 1024;

function refusalOf(answer: IncomingMessage, then: (text: string) => void): void {
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    if (text.length < MOST_TEXT) text += chunk;
  });
  answer.on('error', () => undefined);
  answer.on('close', () => {
    then(text.trim() || `the agent answered ${answer.statusCode ?? 0}`);
  });
}

interface Line {
  readonly duplex: Duplex;
  readonly hear: (frame: Exclude<Frame, { readonly kind: 'ping' }>) => void;
  /** The connection is no more. */
  readonly cut: () => void;
}

function session(connection: Duplex): Session {
  const lines = new Map<number, Line>();
  /** Streams whose readers are slow. There is one connection, so that all wait for the slowest. */
  const full = new Set<number>();
  const read = frameReader();
  let lastId = -1;

  connection.on('data', (chunk: Buffer) => {
    try {
      for (const frame of read(chunk)) {
        if (frame.kind === 'ping') connection.write(pingFrame(frame.id));
        else lines.get(frame.stream)?.hear(frame);
      }
    } catch {
      connection.destroy();
    }
  });
  connection.on('error', () => undefined);
  connection.on('end', () => connection.destroy());
  connection.on('close', () => {
    for (const { cut } of lines.values()) cut();
  });

  return {
    open(headers) {
      const isFirst = lastId < 0;
      lastId += 2;
      const id = lastId;
      connection.write(openFrame(id, headers, isFirst));
      const made = line(id, connection, (isFull) => {
        if (isFull) full.add(id);
        else full.delete(id);
        if (full.size > 0) connection.pause();
        else connection.resume();
      });
      lines.set(id, made);
      made.duplex.on('close', () => {
        lines.delete(id);
        if (full.delete(id) && full.size === 0) connection.resume();
      });
      return made.duplex;
    },
  };
}

function line(id: number, connection: Duplex, fill: (isFull: boolean) => void): Line {
  let isTaken = false;
  /** The other end says nothing more, or hears nothing more. */
  let isMute = false;
  let isDeaf = false;
  let waiting: (() => void) | undefined;
  /** The other end forgets what comes before it has taken the stream, and needs nothing once it hears no more. */
  function say(bytes: Buffer, done: (error?: Error | null) => void): void {
    function act(): void {
      if (isDeaf) done();
      else connection.write(bytes, done);
    }
    if (isTaken || isDeaf) act();
    else waiting = act;
  }
  function goOn(): void {
    waiting?.();
    waiting = undefined;
  }
  function mute(): void {
    if (isMute) return;
    isMute = true;
    duplex.push(null);
  }
  const duplex = new Duplex({
    read() {
      fill(false);
    },
    write(chunk: Buffer, _encoding, done) {
      say(dataFrames(id, chunk), done);
    },
    final(done) {
      say(endFrame(id), done);
    },
    destroy(error, done) {
      if (!isMute && connection.writable) connection.write(resetFrame(id));
      isMute = true;
      done(error);
    },
  });
  duplex.on('error', () => undefined);
  return {
    duplex,
    hear(frame) {
      isTaken = true;
      // Runtimes end all streams like this when they are done.
      if (frame.kind === 'reset') isDeaf = true;
      goOn();
      if (frame.kind === 'data' && frame.bytes.length > 0 && !isMute && !duplex.push(frame.bytes)) fill(true);
      if (frame.kind === 'reset' || frame.isLast) mute();
    },
    cut() {
      isDeaf = true;
      goOn();
      // What has arrived is still there to be read.
      if (!isMute) duplex.destroy(new Error('the connection broke off'));
    },
  };
}
