import { STATUS_CODES } from 'node:http';
import type { Observable } from 'rxjs';

/** By what a server can tell that nothing has changed. */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly validators: Validators;
  /** How the body is packed, where the server says so. */
  readonly encoding?: string;
  /** Empty unless the status is 200. */
  readonly body: Uint8Array;
}

/** Asks once, for whatever is not what the validators say: emits the whole answer and completes, or errors. */
export type FetchManifests = (known: Validators) => Observable<HttpAnswer>;

/** An answer that can be decoded; the very same `content` as before where the text is the same. */
export interface HttpReading {
  readonly kind: 'read';
  readonly content: { readonly text: string };
  readonly validators: Validators;
}

export interface HttpFailure {
  readonly kind: 'failed';
  readonly message: string;
}

/**
 * Judges an answer before it is decoded. Whatever a server sends when something is wrong with it, as an empty body or a web
 * page, is a failure; that nothing is to run is said by a list without items.
 */
export function readAnswer(answer: HttpAnswer, former: HttpReading | undefined): HttpReading | HttpFailure {
  const { status, validators, encoding = 'identity', body } = answer;
  if (status === 304) return former ?? failure('the server says that nothing has changed, which it was not asked');
  if (status !== 200) return failure(`the server answers ${[status, STATUS_CODES[status]].filter(Boolean).join(' ')}`);
  if (encoding !== 'identity') return failure(`the answer is packed (${encoding}), which was not asked for`);

  const text = textOf(body);
  if (text === undefined) return failure('the answer is no UTF-8 text');
  if (isBlank(text)) return failure(`the answer is empty; ${NOTHING_WANTED}`);
  if (/^\uFEFF?\s*</.test(text)) return failure('the answer is a web page, not manifests');
  return { kind: 'read', content: former?.content.text === text ? former.content : { text }, validators };
}

const NOTHING_WANTED = 'where nothing is to run, serve a PodList without items';

function failure(message: string): HttpFailure {
  return { kind: 'failed', message };
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** Whether it holds no document, or only empty ones. */
function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^\uFEFF?\s*(?:-{3}|\.{3})?\s*(?:null|~)?\s*(?:#.*)?$/.test(line));
}
