import { Subject, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { exposition } from '../../../../src/server/metrics/family.ts';
import { httpMetrics, type HttpMetrics } from '../../../../src/server/metrics/http-metrics.ts';
import type { Exchange, Route, Upgrade } from '../../../../src/server/route.ts';
import { parseExposition, type ParsedSample } from '../../../parse-exposition.ts';

const REQUEST = { request: { method: 'GET' } };

function routeThat(answer$: Observable<never>, path: string): Route {
  return { path, access: 'node', answer: () => answer$, upgrade: () => answer$ };
}

function told({ families }: HttpMetrics, name: string): readonly ParsedSample[] {
  return parseExposition(exposition(families())).get(name)?.samples ?? [];
}

function begin(asked$: Observable<never> | undefined): () => void {
  const subscription = asked$?.subscribe({ error: () => undefined });
  return () => subscription?.unsubscribe();
}

describe('httpMetrics', () => {
  it('counts a request as in flight until it is answered', () => {
    const metrics = httpMetrics();
    const answer = new Subject<never>();
    const [route] = metrics.metered([routeThat(answer, '/pods')], 'local');
    begin(route?.answer(REQUEST as Exchange));
    const labels = { method: 'GET', path: 'pods', server_type: 'local', long_running: 'false' };
    const name = 'kubelet_http_inflight_requests';
    expect(told(metrics, name)).toEqual([{ name, labels, value: 1 }]);
    expect(told(metrics, 'kubelet_http_requests_duration_seconds')).toEqual([]);
    answer.complete();
    expect(told(metrics, name)).toEqual([{ name, labels, value: 0 }]);
    expect(told(metrics, 'kubelet_http_requests_total')[0]).toMatchObject({ labels, value: 1 });
    expect(told(metrics, 'kubelet_http_requests_duration_seconds').at(-1)).toMatchObject({ value: 1 });
  });

  it('counts one whose client has gone, and one that fails', () => {
    const metrics = httpMetrics();
    const answer = new Subject<never>();
    const [route] = metrics.metered([routeThat(answer, '/pods')], 'local');
    begin(route?.answer(REQUEST as Exchange))();
    begin(route?.answer(REQUEST as Exchange));
    answer.error(new Error('x'));
    expect(told(metrics, 'kubelet_http_inflight_requests')[0]?.value).toBe(0);
    expect(told(metrics, 'kubelet_http_requests_total')[0]?.value).toBe(2);
  });

  it('tells connections apart, and names no pod', () => {
    const metrics = httpMetrics();
    const [route] = metrics.metered([routeThat(new Subject(), '/exec/:namespace/:pod/:container')], 'readwrite');
    begin(route?.upgrade?.(REQUEST as Upgrade));
    expect(told(metrics, 'kubelet_http_inflight_requests')[0]?.labels).toEqual({
      method: 'GET',
      path: 'exec',
      server_type: 'readwrite',
      long_running: 'true',
    });
  });
});
