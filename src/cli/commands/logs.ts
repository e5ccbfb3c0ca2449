import { request, type IncomingMessage } from 'node:http';
import { pipeline, Transform } from 'node:stream';
import { concat, EMPTY, merge, Observable, switchMap, throwError } from 'rxjs';
import { containerNames } from '../../model/logs/instance-of.ts';
import type { NodeView, PodView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import type { LogsOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { askAgent, unreachable } from './ask-agent.ts';
import { chooseContainer } from './choose-container.ts';
import type { Standard } from './exec.ts';
import { findPod } from './find-pod.ts';
import { writeThrough } from './write-through.ts';

type Outputs = Pick<Standard, 'stdout' | 'stderr'>;

/**
 * `rxlet logs`: writes what containers have written, and with `follow` what they write, to `stdout`. Emits nothing;
 * completes at the end of the log. Errors with a {@link CliError} where there is none to show; of several containers
 * those that have none are told on `stderr`.
 */
export function logs(options: LogsOptions, { stdout, stderr }: Outputs): Observable<never> {
  return askAgent<NodeView>(options.socket, '/rxlet/view').pipe(
    switchMap((view) => {
      const [pod] = findPod(view, options);
      if (!options.allContainers) {
        const { container, note } = chooseContainer(pod, options.container);
        stderr.write(note);
        return log(pod, container, options, stdout, (refusal) => throwError(() => refusal));
      }
      const all = containerNames(pod.status).map((container) =>
        log(pod, container, options, stdout, ({ message }) => {
          stderr.write(`rxlet: ${message}\n`);
          return EMPTY;
        }),
      );
      return options.follow ? merge(...all) : concat(...all);
    }),
  );
}

type Answer =
  { readonly kind: 'log'; readonly response: IncomingMessage } | { readonly kind: 'refusal'; readonly error: CliError };

function log(
  { pod: { metadata } }: PodView,
  container: string,
  options: LogsOptions,
  stdout: Outputs['stdout'],
  refused: (error: CliError) => Observable<never>,
): Observable<never> {
  const path = `/containerLogs/${metadata.namespace}/${metadata.name}/${container}?${queryOf(options)}`;
  const prefix = options.prefix ? `[${metadata.name}/${container}] ` : '';
  return answers(options, path).pipe(
    switchMap((answer) =>
      answer.kind === 'refusal'
        ? refused(answer.error)
        : written(answer.response, options.allContainers || options.prefix ? wholeLines(prefix) : undefined, stdout),
    ),
  );
}

function answers({ socket, previous }: LogsOptions, path: string): Observable<Answer> {
  return new Observable((observer) => {
    const call = request({ socketPath: socket, path, agent: false }, (response) => {
      if (response.statusCode === 200) {
        observer.next({ kind: 'log', response });
        return;
      }
      textOf(response, (text) => {
        const hint = previous ? 'Without --previous it shows the newest one.' : 'rxlet describe tells how far it is.';
        observer.next({ kind: 'refusal', error: new CliError(EXIT_CODES.usage, text.trim(), hint) });
        observer.complete();
      });
    });
    call.on('error', (error) => {
      observer.error(unreachable(socket, error));
    });
    call.on('close', () => {
      observer.complete();
    });
    call.end();
    return () => {
      call.destroy();
    };
  });
}

function written(
  response: IncomingMessage,
  lines: Transform | undefined,
  stdout: Outputs['stdout'],
): Observable<never> {
  return new Observable((observer) => {
    pipeline([response, ...(lines ? [lines] : []), writeThrough(stdout)], (error) => {
      if (!error) observer.complete();
      else observer.error(new CliError(EXIT_CODES.noAgent, `the log broke off: ${error.message}`));
    });
    return () => response.destroy();
  });
}

function queryOf({ follow, previous, timestamps, tail, since, sinceTime, limitBytes }: LogsOptions): string {
  return new URLSearchParams({
    ...(follow ? { follow: 'true' } : {}),
    ...(previous ? { previous: 'true' } : {}),
    ...(timestamps ? { timestamps: 'true' } : {}),
    ...(tail === undefined ? {} : { tailLines: String(tail) }),
    ...(since === undefined ? {} : { sinceSeconds: String(since) }),
    ...(sinceTime === undefined ? {} : { sinceTime }),
    ...(limitBytes === undefined ? {} : { limitBytes: String(limitBytes) }),
  }).toString();
}

function textOf(response: IncomingMessage, then: (text: string) => void): void {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => (text += chunk));
  response.on('end', () => {
    then(text);
  });
}

const NEWLINE = 0x0a;

/** Passes on whole lines, each after a prefix, so that those of several logs do not mix. */
function wholeLines(prefix: string): Transform {
  let rest: Buffer = Buffer.alloc(0);
  const before = Buffer.from(prefix);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, chunk]);
      const parts: Buffer[] = [];
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        parts.push(before, bytes.subarray(start, end + 1));
        start = end + 1;
      }
      rest = bytes.subarray(start);
      done(null, Buffer.concat(parts));
    },
    flush(done) {
      done(null, rest.length > 0 ? Buffer.concat([before, rest]) : undefined);
    },
  });
}
