import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { map, Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

/** What the agent said to one question. */
export interface AgentAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Asks the agent behind a socket for one page of JSON: emits it and completes. Errors with a {@link CliError} when
 * there is no agent, or when it has no answer.
 */
export function askAgent<Page>(socket: string, path: string): Observable<Page> {
  return tellAgent(socket, 'GET', path).pipe(
    map(({ status, body }) => {
      if (status !== 200) throw refusal(socket, status, body);
      return parsed(socket, body) as Page;
    }),
  );
}

/** Asks for a page that has one JSON value per line: emits all of them at once and completes. Errors as {@link askAgent}. */
export function askLines<Line>(socket: string, path: string): Observable<readonly Line[]> {
  return tellAgent(socket, 'GET', path).pipe(
    map(({ status, body }) => {
      if (status !== 200) throw refusal(socket, status, body);
      const lines = body.split('\n').filter((line) => line !== '');
      return lines.map((line) => parsed(socket, line) as Line);
    }),
  );
}

/**
 * Says something to the agent and emits its answer whatever that is, then completes. Errors with a {@link CliError}
 * when there is no agent to hear it.
 */
export function tellAgent(socket: string, method: 'GET' | 'POST', path: string): Observable<AgentAnswer> {
  return exchange(socket, { method, path }, (response, observer) => {
    let body = '';
    response.on('data', (chunk: string) => (body += chunk));
    response.on('end', () => {
      observer.next({ status: response.statusCode ?? 0, body });
      observer.complete();
    });
  });
}

/**
 * Follows a page that has one JSON value per line: emits each as it comes. Never completes; errors with a
 * {@link CliError} when there is no agent, or when it goes.
 */
export function followAgent<Line>(socket: string, path: string): Observable<Line> {
  return exchange(socket, { method: 'GET', path }, (response, observer) => {
    if (response.statusCode !== 200) {
      observer.error(gone(socket, `it answered ${response.statusCode ?? 'nothing'}`));
      return;
    }
    let rest = '';
    response.on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      try {
        for (const line of lines) observer.next(parsed(socket, line) as Line);
      } catch (error) {
        observer.error(error);
      }
    });
    response.on('end', () => {
      observer.error(gone(socket, 'it ended the conversation'));
    });
  });
}

interface Listener<T> {
  readonly next: (value: T) => void;
  readonly error: (error: unknown) => void;
  readonly complete: () => void;
}

function exchange<T>(
  socket: string,
  options: RequestOptions,
  hear: (response: IncomingMessage, listener: Listener<T>) => void,
): Observable<T> {
  return new Observable((observer) => {
    const call = request({ ...options, socketPath: socket, agent: false }, (response) => {
      response.setEncoding('utf8');
      response.on('error', (error) => {
        observer.error(gone(socket, messageOf(error)));
      });
      hear(response, observer);
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      observer.error(unreachable(socket, error));
    });
    call.end();
    return () => {
      call.destroy();
    };
  });
}

function parsed(socket: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw gone(socket, `it sent something else than JSON: ${messageOf(error)}`);
  }
}

function refusal(socket: string, status: number, body: string): CliError {
  if (status === 404)
    return new CliError(
      EXIT_CODES.noAgent,
      `the agent on ${socket} does not know this question`,
      'Is it of another version? Restart it: sudo systemctl restart rxlet. Pods keep running.',
    );
  return gone(socket, `it answered ${status}${body.trim() === '' ? '' : `: ${body.trim()}`}`);
}

export function unreachable(socket: string, error: NodeJS.ErrnoException): CliError {
  switch (error.code) {
    case 'EACCES':
      return new CliError(
        EXIT_CODES.noAgent,
        `no permission for ${socket}`,
        'Only root may ask the agent: try again with sudo.',
      );
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new CliError(
        EXIT_CODES.noAgent,
        `no agent is running: nobody answers on ${socket}`,
        'Start it with: sudo rxlet run --pod-manifest-path FOLDER (or: sudo systemctl start rxlet).\n' +
          'If it runs with another --socket, give the same to this command.',
      );
    default:
      return gone(socket, messageOf(error));
  }
}

function gone(socket: string, why: string): CliError {
  return new CliError(EXIT_CODES.noAgent, `the agent on ${socket} cannot be asked: ${why}`);
}
