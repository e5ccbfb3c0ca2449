import { execFile } from 'node:child_process';
import { Observable } from 'rxjs';

/**
 * Runs `mount` or `umount` to its end. Errors with what the tool said, in the kubelet's form (`mount failed: ...`).
 * Unsubscribing asks the tool to end: a server that does not answer must not hold the pod.
 */
export function runTool(tool: 'mount' | 'umount', args: readonly string[]): Observable<undefined> {
  return new Observable((subscriber) => {
    const child = execFile(tool, args, { env: { PATH: TOOL_PATH, LC_ALL: 'C' } }, (error, stdout, stderr) => {
      if (error) subscriber.error(new Error(explain(tool, args, error, `${stdout}${stderr}`)));
      else {
        subscriber.next(undefined);
        subscriber.complete();
      }
    });
    return () => {
      child.kill();
    };
  });
}

/** A service may be started with nothing but a PATH of its own. */
const TOOL_PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`;

function explain(
  tool: string,
  args: readonly string[],
  { code, message }: { readonly code?: number | string | null; readonly message: string },
  output: string,
): string {
  const status = typeof code === 'number' ? `exit status ${code}` : message;
  const word = tool === 'mount' ? 'mount' : 'unmount';
  const doing = tool === 'mount' ? 'Mounting' : 'Unmounting';
  return `${word} failed: ${status}\n${doing} command: ${tool}\n${doing} arguments: ${args.join(' ')}\nOutput: ${output}`;
}
