import { request } from 'node:http';
import { Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { NodeView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

/**
 * Asks the agent behind a socket for its views: emits the newest at once, then each change. Never completes; errors
 * with a {@link CliError} when there is no agent, or when it goes.
 */
export function watchViews(socket: string): Observable<NodeView> {
  return new Observable((observer) => {
    const call = request({ socketPath: socket, path: '/rxlet/watch', agent: false }, (response) => {
      if (response.statusCode !== 200) {
        observer.error(gone(socket, `it answered ${response.statusCode ?? 'nothing'}`));
        return;
      }
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        const lines = `${rest}${chunk}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) next(line);
      });
      response.on('error', (error) => {
        observer.error(gone(socket, messageOf(error)));
      });
      response.on('end', () => {
        observer.error(gone(socket, 'it ended the conversation'));
      });
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      observer.error(unreachable(socket, error));
    });
    call.end();
    return () => {
      call.destroy();
    };

    function next(line: string): void {
      try {
        observer.next(JSON.parse(line) as NodeView);
      } catch (error) {
        observer.error(gone(socket, `it sent something else than a view: ${messageOf(error)}`));
      }
    }
  });
}

function unreachable(socket: string, error: NodeJS.ErrnoException): CliError {
  switch (error.code) {
    case 'EACCES':
      return new CliError(EXIT_CODES.noAgent, `no permission for ${socket}`, 'Try again as root: sudo rxlet ps');
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new CliError(
        EXIT_CODES.noAgent,
        `no agent is running: nobody answers on ${socket}`,
        'Start it with: sudo rxlet run --pod-manifest-path FOLDER (or: sudo systemctl start rxlet).\n' +
          'If it runs with another --socket, give rxlet ps the same.',
      );
    default:
      return gone(socket, messageOf(error));
  }
}

function gone(socket: string, why: string): CliError {
  return new CliError(EXIT_CODES.noAgent, `the agent on ${socket} cannot be asked: ${why}`);
}
