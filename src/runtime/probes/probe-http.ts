import { catchError, concatMap, defer, of, tap, throwError, timeout, type Observable } from 'rxjs';
import type { Probe, ProbeAnswer } from '../../streams/probes/probe.ts';
import type { Address } from './address.ts';
import { failure, success } from './answers.ts';
import { httpErrorText, httpTimeoutText, type Stage } from './http-error-text.ts';
import { httpExchange, type HttpEvent, type HttpRequest } from './http-exchange.ts';
import { redirectOf, requestOf, urlOf } from './http-request.ts';
import { isOurOwn } from './network-error.ts';

/**
 * Asks a server with GET (facts sheet 18). Codes from 200 to 399 are success; redirects are followed on the same host,
 * and one to another host is a warning, for what it answers says nothing about this container. All of it must be done
 * within `limit` milliseconds, the body too. Errors only when this machine could not ask.
 */
export function probeHttp(
  address: Address,
  httpGet: NonNullable<Probe['httpGet']>,
  limit: number,
): Observable<ProbeAnswer> {
  return defer(() => {
    const first = requestOf(address, httpGet);
    let request = first;
    let stage: Stage = 'dialling';

    function visit(next: HttpRequest, visited: number): Observable<ProbeAnswer> {
      request = next;
      stage = 'dialling';
      return httpExchange(next).pipe(
        tap(({ at }) => {
          stage = at;
        }),
        concatMap((event) => (event.at === 'answer' ? follow(event, visited) : [])),
      );
    }

    function follow(answer: HttpAnswer, visited: number): Observable<ProbeAnswer> {
      const next = redirectOf(request, answer);
      if (next?.host !== first.host) return of(judge(answer));
      return visited < MOST_VISITS ? visit(next, visited + 1) : of(failed(`stopped after ${MOST_VISITS} redirects`));
    }

    function failed(text: string): ProbeAnswer {
      return failure(`Get ${JSON.stringify(urlOf(request))}: ${text}`);
    }

    return visit(first, 1).pipe(
      timeout({ first: limit, with: () => of(failed(httpTimeoutText(request, stage))) }),
      catchError((error: unknown) =>
        isOurOwn(error) ? throwError(() => error) : of(failed(httpErrorText(error, request, stage))),
      ),
    );
  });
}

type HttpAnswer = Extract<HttpEvent, { readonly at: 'answer' }>;

const MOST_VISITS = 10;

function judge({ status, body }: HttpAnswer): ProbeAnswer {
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
  if (status < 300) return success(body);
  return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
}
