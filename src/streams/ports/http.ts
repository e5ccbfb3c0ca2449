import type { Observable } from 'rxjs';

/** One GET for a lifecycle hook. */
export interface HttpRequest {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Requests that the agent makes of pods. */
export interface Http {
  /**
   * Sends one request and emits the status code of the answer, whatever it is; errors when no answer comes.
   * TLS is not verified, redirects are not followed. Unsubscribing hangs up.
   */
  readonly get: (request: HttpRequest) => Observable<number>;
}
