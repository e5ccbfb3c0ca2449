import { execFile } from 'node:child_process';
import { Observable, retry, timer } from 'rxjs';

/** The process environment, as far as systemd speaks through it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds before a message that did not get through is sent once more. */
const SECOND_TRY = 1_000;
/** Milliseconds that one message may take. */
const DEADLINE = 10_000;

/** Whether systemd wants to hear from this process. */
export function isSystemdListening(env: Environment): boolean {
  return (env['NOTIFY_SOCKET'] ?? '') !== '';
}

/**
 * Sends variables as `READY=1` or `STATUS=...` to systemd. Subscribing sends; nothing is emitted; completes when systemd
 * has them, at once where nobody listens. One failure is tried again after a second, the second one is an error.
 *
 * Node has no datagram sockets of the unix kind, so the `systemd-notify` program speaks for us: as root in our name,
 * which is why the unit says `NotifyAccess=all` for everybody else.
 */
export function notifySystemd(env: Environment, variables: readonly string[]): Observable<never> {
  return new Observable<never>((observer) => {
    if (!isSystemdListening(env)) {
      observer.complete();
      return undefined;
    }
    const child = execFile('systemd-notify', variables, { env, timeout: DEADLINE }, (error, _out, complaint) => {
      if (error) observer.error(new Error(`systemd-notify failed: ${complaint.trim() || error.message}`));
      else observer.complete();
    });
    return () => {
      child.kill();
    };
  }).pipe(retry({ count: 1, delay: () => timer(SECOND_TRY) }));
}
