import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Observable } from 'rxjs';
import { readProviderAnswer, type ProviderAnswer } from '../../model/credentials/provider-answer.ts';
import type { CredentialProvider } from '../../model/credentials/provider-config.ts';

/** Milliseconds that a program gets to answer. */
const PATIENCE = 60_000;
const MOST_BYTES = 1_048_576;

/**
 * Asks one program for the credentials of an image: the request goes to its input, the answer comes from its output.
 * Emits one answer and completes; errors where it fails, says too much or takes too long. Unsubscribing ends the program.
 */
export function askProvider(
  { name, apiVersion, args, env }: CredentialProvider,
  binDir: string,
  image: string,
): Observable<ProviderAnswer> {
  return new Observable((subscriber) => {
    const child = spawn(join(binDir, name), [...args], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: PATIENCE,
      killSignal: 'SIGKILL',
    });
    let answer = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.length > MOST_BYTES) child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(-1_000);
    });
    child.on('error', (error) => {
      subscriber.error(error);
    });
    child.on('close', (code, signal) => {
      if (code === 0) {
        try {
          subscriber.next(readProviderAnswer(answer, apiVersion));
          subscriber.complete();
        } catch (error: unknown) {
          subscriber.error(error);
        }
      } else {
        subscriber.error(new Error(`it ended with ${signal ?? `code ${code ?? 0}`}: ${complaint.trim()}`));
      }
    });
    child.stdin.on('error', () => undefined); // a program that does not read its input may answer all the same
    child.stdin.end(JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image }));
    return () => child.kill('SIGKILL');
  });
}
