import type { Observable } from 'rxjs';
import type { Desired } from '../../model/desired.ts';
import type { FileMemoryStore } from '../file/file-memory.ts';
import { fetchManifests, type HttpEndpoint } from './fetch-manifests.ts';
import { httpStream } from './http-stream.ts';

export interface HttpSourceConfig extends HttpEndpoint {
  readonly nodeName: string;
  /** Milliseconds from an answer to the next question. */
  readonly httpCheckFrequency: number;
}

/** Milliseconds; the kubelet's own limit (facts sheet 2.2). */
const TIMEOUT = 10_000;

/** Milliseconds. */
const FIRST_RETRY = 1_000;

/** What the manifests at a URL want to run ({@link httpStream}). */
export function httpSource(config: HttpSourceConfig, store?: FileMemoryStore): Observable<Desired> {
  const { url, nodeName, httpCheckFrequency } = config;
  return httpStream(
    { url: url.shown, nodeName, httpCheckFrequency, timeout: TIMEOUT, firstRetry: FIRST_RETRY },
    { fetch: fetchManifests(config), random: Math.random, ...(store && { store }) },
  );
}
