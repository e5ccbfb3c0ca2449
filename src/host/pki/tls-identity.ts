import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { catchError, distinctUntilChanged, EMPTY, exhaustMap, from, throwError, timer, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { TlsIdentity } from '../../streams/ports/tls-identity.ts';
import { ownPki, type OwnPkiConfig } from './own-pki.ts';

export interface TlsFiles extends OwnPkiConfig {
  /** Empty: one of our own. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
}

/** Milliseconds between two looks at the files and at how much longer they last. */
const PERIOD = 60_000;

/**
 * Who the server is and whose clients it takes: now, and whenever files have changed or a certificate of our own was
 * renewed. Errors where the first look finds nothing that can be used; later the last good one stays in force, and
 * `onProblem` hears why. Never completes.
 */
export function tlsIdentity(files: TlsFiles, onProblem: (problem: string) => void): Observable<TlsIdentity> {
  return timer(0, PERIOD).pipe(
    exhaustMap((turn) =>
      from(look(files)).pipe(
        catchError((error: unknown) => {
          if (turn === 0) return throwError(() => error);
          onProblem(`the certificates of the server cannot be renewed: ${messageOf(error)}`);
          return EMPTY;
        }),
      ),
    ),
    distinctUntilChanged((a, b) => a.cert === b.cert && a.key === b.key && a.clientCa === b.clientCa),
  );
}

async function look({ certFile, keyFile, clientCaFile, ...own }: TlsFiles): Promise<TlsIdentity> {
  const pki = certFile === '' || clientCaFile === '' ? await ownPki(own, Date.now()) : undefined;
  const [cert, key, clientCa] = await Promise.all([
    certFile === '' ? (pki?.server.cert ?? '') : readFile(certFile, 'utf8'),
    certFile === '' ? (pki?.server.key ?? '') : readFile(keyFile, 'utf8'),
    clientCaFile === '' ? (pki?.authority ?? '') : readFile(clientCaFile, 'utf8'),
  ]);
  createSecureContext({ cert, key, ca: clientCa }); // throws where they do not fit together
  return { cert, key, clientCa };
}
