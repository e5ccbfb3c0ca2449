import { map, merge, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type {
  AuthConfig,
  PodSandboxConfig,
  PullImageRequest,
  PullImageResponse,
} from '../../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../../src/model/errors.ts';
import type { Images, PullAsk } from '../../../../src/runtime/ensure-image.ts';
import { imageService } from '../../../../src/runtime/images/image-service.ts';
import { marbles } from '../../harness.ts';

const FREE = { parallel: Infinity, perSecond: 0, burst: 1 };

function service(
  pullImage: (request: PullImageRequest) => Observable<PullImageResponse>,
  known: readonly AuthConfig[] = [],
  limits = FREE,
): Images {
  return imageService({ imageStatus: () => of({}), pullImage }, { lookUp: () => of(known) }, limits);
}

/** What a pod with these annotations asks for. */
function ask(image: string, annotations: Readonly<Record<string, string>> = {}, sandbox?: PodSandboxConfig): PullAsk {
  return { image, pod: { annotations, sandbox$: of(sandbox) } };
}

function outcome(pulled$: Observable<unknown>): unknown {
  const seen: unknown[] = [];
  pulled$.subscribe({
    next: (value) => seen.push(value),
    error: (error: unknown) => seen.push(error instanceof Error ? error.message : error),
  });
  return seen;
}

describe('imageService', () => {
  it('credentials are tried one after another until one is taken, and no pull goes without where any is known', () => {
    const tried: unknown[] = [];
    const images = service(
      ({ auth }) => {
        tried.push(auth?.username);
        return auth?.username === 'b' ? of({ imageRef: 'sha256:1' }) : throwError(() => new Error('401'));
      },
      [{ username: 'a' }, { username: 'b' }, { username: 'c' }],
    );
    expect(outcome(images.pull(ask('app')))).toMatchObject([{ ref: 'sha256:1' }]);
    expect(tried).toEqual(['a', 'b']);
  });

  it('what the pod brings along is tried before what the node knows', () => {
    const tried: unknown[] = [];
    const images = service(
      ({ auth }) => {
        tried.push(auth?.username);
        return throwError(() => new Error(`401 for ${auth?.username ?? ''}`));
      },
      [{ username: 'node' }],
    );
    const auths = [{ username: 'first' }, { username: 'second' }];
    expect(outcome(images.pull({ ...ask('app'), auths }))).toEqual(['401 for node']);
    expect(tried).toEqual(['first', 'second', 'node']);
  });

  it(
    'pulls with other credentials do not share one pull',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call = cold('--(r|)', { r: { imageRef: 'a' } });
      const images = service(() => call);
      const by = (username: string): Observable<unknown> => images.pull({ ...ask('a'), auths: [{ username }] });
      expectObservable(merge(by('ann'), by('bob'), by('ann'))).toBe('--(xxx|)', { x: { ref: 'a', took: 2 } });
      expectSubscriptions(call.subscriptions).toBe(['^-!', '^-!']);
    }),
  );

  it(
    'a pull beyond registryPullQPS and registryBurst waits for its turn, and does not fail',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call = cold('(r|)', { r: { imageRef: 'x' } });
      const images = service(() => call, [], { ...FREE, perSecond: 1, burst: 2 });
      const pulls$ = merge(...['a', 'b', 'c', 'd'].map((image) => images.pull(ask(image))));
      expectObservable(pulls$.pipe(map(() => 'p'))).toBe('(pp) 996ms p 999ms (p|)');
      expectSubscriptions(call.subscriptions).toBe(['(^!)', '(^!)', '1s (^!)', '2s (^!)']);
    }),
  );

  it('the runtime is told for which pod an image is pulled: its annotations, and the sandbox that it gets', () => {
    const asked: PullImageRequest[] = [];
    const sandbox: PodSandboxConfig = { metadata: { name: 'web', uid: 'u-1' }, hostname: 'web' };
    const images = service((request) => {
      asked.push(request);
      return of({});
    });
    outcome(images.pull(ask('app:1', { 'example.org/store': 'fast' }, sandbox)));
    expect(asked).toEqual([
      { image: { image: 'app:1', annotations: { 'example.org/store': 'fast' } }, sandboxConfig: sandbox },
    ]);
  });

  it('the runtime is told the annotations of the pod when it is asked for an image', () => {
    const asked: unknown[] = [];
    const imageStatus = (request: unknown) => {
      asked.push(request);
      return of({});
    };
    const images = imageService({ imageStatus, pullImage: () => of({}) }, { lookUp: () => of([]) }, FREE);
    outcome(images.status('app:1', { annotations: { a: 'b' }, sandbox$: of(undefined) }));
    expect(asked).toEqual([{ image: { image: 'app:1', annotations: { a: 'b' } }, verbose: true }]);
  });

  it('a pull goes without a credential where none is known', () => {
    const asked: PullImageRequest[] = [];
    outcome(
      service((request) => {
        asked.push(request);
        return of({});
      }).pull(ask('app:1')),
    );
    expect(asked).toEqual([{ image: { image: 'app:1', annotations: {} } }]);
  });

  it('an error of the runtime has its status before it, unless that is unknown', () => {
    const failing = (error: RuntimeError): unknown => outcome(service(() => throwError(() => error)).pull(ask('app')));
    expect(failing(new RuntimeError('notFound', 'PullImage', 'no app'))).toEqual([
      'rpc error: code = NotFound desc = no app',
    ]);
    expect(failing(new RuntimeError('refused', 'PullImage', 'no app', 'Unknown'))).toEqual(['no app']);
  });

  it(
    'no more pulls go on at a time than allowed, each is told with the time that it took alone, and one image is pulled once',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const calls = { a: cold('--(r|)', { r: { imageRef: 'a' } }), b: cold('----(r|)', { r: { imageRef: 'b' } }) };
      const images = service(({ image }) => (image?.image === 'a' ? calls.a : calls.b), [], { ...FREE, parallel: 1 });
      expectObservable(merge(images.pull(ask('a')), images.pull(ask('a')), images.pull(ask('b')))).toBe('--(xx)(y|)', {
        x: { ref: 'a', took: 2 },
        y: { ref: 'b', took: 4 },
      });
      expectSubscriptions(calls.a.subscriptions).toBe('^-!');
      expectSubscriptions(calls.b.subscriptions).toBe('--^---!');
    }),
  );
});
