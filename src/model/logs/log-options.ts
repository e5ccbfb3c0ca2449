/** Which part of a container's log is wanted, and in what form. */
export interface LogOptions {
  /** Stay, and tell what is written from now on. */
  readonly follow: boolean;
  /** The instance before this one. */
  readonly previous: boolean;
  /** Each line begins with the time at which it was written. */
  readonly timestamps: boolean;
  /** This many lines from the end; everything where it is absent. */
  readonly tailLines?: number;
  /** No more bytes than this are told, wherever that cuts. */
  readonly limitBytes?: number;
  /** Milliseconds since 1970; lines from before are left out. */
  readonly since?: number;
  readonly stream: LogStream;
}

/** The kubelet's names. */
export type LogStream = 'All' | 'Stdout' | 'Stderr';

export const WHOLE_LOG: LogOptions = { follow: false, previous: false, timestamps: false, stream: 'All' };

/**
 * Reads the query of `/containerLogs`, under the kubelet's names, or tells what is wrong with it. `now` is in
 * milliseconds since 1970.
 */
export function readLogOptions(query: URLSearchParams, now: number): LogOptions | { readonly problem: string } {
  try {
    const tailLines = count(query, query.has('tailLines') ? 'tailLines' : 'tail', 0);
    const limitBytes = count(query, 'limitBytes', 1);
    const since = sinceOf(query, now);
    return {
      follow: flag(query, 'follow'),
      previous: flag(query, 'previous'),
      timestamps: flag(query, 'timestamps'),
      ...(tailLines === undefined ? {} : { tailLines }),
      ...(limitBytes === undefined ? {} : { limitBytes }),
      ...(since === undefined ? {} : { since }),
      stream: streamOf(query.get('stream') ?? 'All'),
    };
  } catch (error) {
    if (error instanceof QueryError) return { problem: error.message };
    throw error;
  }
}

class QueryError extends Error {
  override readonly name = 'QueryError';
}

/** Whether a switch of a query is on: `?follow`, `?follow=1` and `?follow=true` say so. */
function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null || value === '0' || value === 'false') return false;
  if (value === '' || value === '1' || value === 'true') return true;
  throw new QueryError(`${name} must be true or false, not "${value}"`);
}

function count(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name);
  // The kubelet takes "all" for the lines, as it does nothing at all.
  if (text === null || text === '' || (text === 'all' && least === 0)) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
    throw new QueryError(`${name} must be a whole number from ${least} up, not "${text}"`);
  return value;
}

function sinceOf(query: URLSearchParams, now: number): number | undefined {
  const seconds = count(query, 'sinceSeconds', 1);
  const text = query.get('sinceTime') ?? '';
  if (text === '') return seconds === undefined ? undefined : now - seconds * 1_000;
  if (seconds !== undefined) throw new QueryError('only one of sinceSeconds and sinceTime may be given');
  const moment = RFC3339.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(moment)) throw new QueryError(`sinceTime must look like 2026-01-02T15:04:05Z, not "${text}"`);
  return moment;
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const STREAMS: readonly LogStream[] = ['All', 'Stdout', 'Stderr'];

function streamOf(text: string): LogStream {
  const found = STREAMS.find((stream) => stream === text);
  if (!found) throw new QueryError(`stream must be one of ${STREAMS.join(', ')}, not "${text}"`);
  return found;
}
