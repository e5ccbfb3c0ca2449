import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { findRoute, type Route } from '../../../src/server/route.ts';

function route(path: string, methods?: readonly string[]): Route {
  return { path, access: 'node', answer: () => EMPTY, ...(methods ? { methods } : {}) };
}

const ROUTES = [
  route('/pods'),
  route('/runningpods/'),
  route('/containerLogs/:namespace/:pod/:container'),
  route('/run/:namespace/:pod/:container', ['POST']),
  route('/run/:namespace/:pod/:uid/:container', ['POST']),
];

function find(url: string, method = 'GET'): ReturnType<typeof findRoute> {
  const request = new IncomingMessage(new Socket());
  request.url = url;
  request.method = method;
  return findRoute(ROUTES, request);
}

function found(url: string, method?: string): unknown {
  const match = find(url, method);
  return match.kind === 'found'
    ? { path: match.route.path, params: match.asked.params, query: match.asked.query.toString() }
    : match.status;
}

describe('findRoute', () => {
  it('finds a path with or without a slash at its end', () => {
    for (const url of ['/pods', '/pods/', '/pods?x=1']) expect(found(url)).toMatchObject({ path: '/pods' });
    for (const url of ['/runningpods', '/runningpods/']) expect(found(url)).toMatchObject({ path: '/runningpods/' });
  });

  it('takes names out of the path and the query', () => {
    expect(found('/containerLogs/default/web/app?follow=true&tailLines=5')).toEqual({
      path: '/containerLogs/:namespace/:pod/:container',
      params: { namespace: 'default', pod: 'web', container: 'app' },
      query: 'follow=true&tailLines=5',
    });
    expect(found('/containerLogs/default/we%62/app')).toMatchObject({ params: { pod: 'web' } });
  });

  it('tells paths of different length apart', () => {
    expect(found('/run/default/web/app', 'POST')).toMatchObject({ params: { container: 'app' } });
    expect(found('/run/default/web/u-1/app', 'POST')).toMatchObject({ params: { uid: 'u-1', container: 'app' } });
  });

  it('answers HEAD where it answers GET', () => {
    expect(found('/pods', 'HEAD')).toMatchObject({ path: '/pods' });
    expect(found('/run/default/web/app', 'HEAD')).toBe(405);
  });

  it('says which methods there are', () => {
    expect(find('/pods', 'DELETE')).toEqual({
      kind: 'refused',
      status: 405,
      text: 'only GET, HEAD is answered here',
      allow: 'GET, HEAD',
    });
  });

  it.each([
    '/pods/..',
    '/../pods',
    '/containerLogs/default/../../pods',
    '/containerLogs/default/%2e%2e/app',
    '/containerLogs/default/web/..%2f..%2fetc%2fpasswd',
    '/containerLogs/default/web/a%5cb',
    '/containerLogs/default/web/a%00b',
    '/containerLogs/default/web/%zz',
    'http://example.com/pods',
    '*',
    '',
  ])('does not read %j as a path', (url) => {
    expect(found(url)).toBe(400);
  });

  it.each(['/', '/nothing', '//pods', '/pods//', '/containerLogs/default//app', '/__proto__', '/containerLogs'])(
    'knows no page at %j',
    (url) => {
      expect(found(url)).toBe(404);
    },
  );
});
