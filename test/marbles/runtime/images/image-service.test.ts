import { merge, of, throwError, type Observable } from 'rxjs';
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
  it('tries one credential after another, and nobody without one where any is known', () => {
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

  it('tells the runtime for which pod an image is pulled: its annotations, and the sandbox that it gets', () => {
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

  it('looks at an image with the annotations of the pod, too', () => {
    const asked: unknown[] = [];
    const imageStatus = (request: unknown) => {
      asked.push(request);
      return of({});
    };
    const images = imageService({ imageStatus, pullImage: () => of({}) }, { lookUp: () => of([]) }, FREE);
    outcome(images.status('app:1', { annotations: { a: 'b' }, sandbox$: of(undefined) }));
    expect(asked).toEqual([{ image: { image: 'app:1', annotations: { a: 'b' } }, verbose: true }]);
  });

  it('asks without a credential where none is known', () => {
    const asked: PullImageRequest[] = [];
    outcome(
      service((request) => {
        asked.push(request);
        return of({});
      }).pull(ask('app:1')),
    );
    expect(asked).toEqual([{ image: { image: 'app:1', annotations: {} } }]);
  });

  it('puts the status before the error, unless it is unknown', () => {
    const failing = (error: RuntimeError): unknown => outcome(service(() => throwError(() => error)).pull(ask('app')));
    expect(failing(new RuntimeError('notFound', 'PullImage', 'no app'))).toEqual([
      'rpc error: code = NotFound desc = no app',
    ]);
    expect(failing(new RuntimeError('refused', 'PullImage', 'no app', 'Unknown'))).toEqual(['no app']);
  });

  it(
    'pulls no more at a time than allowed, tells how long each took, and shares one pull per image',
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
