import { describe, expect, it } from 'vitest';
import { readAnswer, type HttpAnswer } from '../../../../src/sources/http/http-answer.ts';

const EMPTY = 'the answer is empty; where nothing is to run, serve a PodList without items';

function answer(body: string | Uint8Array, more: Partial<HttpAnswer> = {}): HttpAnswer {
  return {
    status: 200,
    validators: {},
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    ...more,
  };
}

describe('readAnswer', () => {
  it.each<[rule: string, body: string | Uint8Array, message: string]>([
    ['takes an empty body for a failure, not for no pods', '', EMPTY],
    ['takes white space for an empty body', ' \r\n\n', EMPTY],
    ['takes a byte order mark alone for an empty body', '\uFEFF', EMPTY],
    ['takes null for an empty body', 'null\n', EMPTY],
    ['takes documents without anything in them for an empty body', '---\n# nothing today\n---\n~\n...\n', EMPTY],
    ['takes a web page for a failure', '<!DOCTYPE html><title>502</title>', 'the answer is a web page, not manifests'],
    ['takes XML for a failure', '\uFEFF\n <?xml version="1.0"?>', 'the answer is a web page, not manifests'],
    ['takes what is no text for a failure', new Uint8Array([0xff, 0xfe]), 'the answer is no UTF-8 text'],
  ])('%s', (_rule, body, message) => {
    expect(readAnswer(answer(body), undefined)).toEqual({ kind: 'failed', message });
  });

  it.each([
    [204, 'the server answers 204 No Content'],
    [206, 'the server answers 206 Partial Content'],
    [404, 'the server answers 404 Not Found'],
    [500, 'the server answers 500 Internal Server Error'],
    [799, 'the server answers 799'],
    [304, 'the server says that nothing has changed, which it was not asked'],
  ])('takes every status but 200 for a failure, as %i', (status, message) => {
    expect(readAnswer(answer('kind: Pod', { status }), undefined)).toEqual({ kind: 'failed', message });
  });

  it('takes no packed body for text', () => {
    expect(readAnswer(answer('x', { encoding: 'gzip' }), undefined)).toEqual({
      kind: 'failed',
      message: 'the answer is packed (gzip), which was not asked for',
    });
    expect(readAnswer(answer('x', { encoding: 'identity' }), undefined).kind).toBe('read');
  });

  it('keeps the very same content for the same text, so that it is not decoded again', () => {
    const first = readAnswer(answer('kind: Pod', { validators: { etag: '1' } }), undefined);
    if (first.kind !== 'read') throw new Error(first.message);
    const again = readAnswer(answer('kind: Pod', { validators: { etag: '2' } }), first);
    expect(again).toEqual({ kind: 'read', content: { text: 'kind: Pod' }, validators: { etag: '2' } });
    expect(again.kind === 'read' && again.content).toBe(first.content);
    expect(readAnswer(answer('', { status: 304 }), first)).toBe(first);
  });
});
