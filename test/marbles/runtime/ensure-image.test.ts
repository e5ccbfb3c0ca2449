import { asyncScheduler, catchError, concatMap, EMPTY, map, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ImageStatusResponse } from '../../../src/model/cri/api.ts';
import { NO_MEMORY, type FailedPull, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { Container } from '../../../src/model/pod.ts';
import { shareByKey } from '../../../src/operators/share-by-key.ts';
import { ensureImage, StartError, withTag, type Images, type ImageStep } from '../../../src/runtime/ensure-image.ts';
import { wanted } from '../fakes.ts';
import { marbles } from '../harness.ts';

const PRESENT: ImageStatusResponse = { image: { id: 'sha256:1' } };
const ABSENT: ImageStatusResponse = {};
const FAILED: FailedPull = { delay: 10_000, until: 10_000, error: 'ErrImagePull: 404' };

/** For whom it is brought; what the runtime is told of it is the image service's. */
const ASKER = { annotations: {}, sandbox$: of(undefined) };

const container = (imagePullPolicy: Container['imagePullPolicy'], image = 'busybox:1'): Container =>
  wanted('main', { image, ...(imagePullPolicy ? { imagePullPolicy } : {}) });
const after = (failed: FailedPull): PodMemory => ({ ...NO_MEMORY, pulls: new Map([['busybox:1', failed]]) });

/** `n`, `f` and `i` as in the diagram, the note told by its reason. */
function letters(step$: Observable<ImageStep>): Observable<string> {
  return step$.pipe(map(({ kind }) => (kind === 'note' ? 'n' : kind === 'image' ? 'i' : 'f')));
}

/** Everything it says, in words. */
function words(step$: Observable<ImageStep>): readonly string[] {
  const said: string[] = [];
  step$.subscribe({
    next: (step) => {
      if (step.kind === 'note') said.push(`${step.note.reason}: ${step.note.message}`);
      else if (step.kind === 'image') said.push(`image ${step.image.ref}`);
      else said.push(`failed until ${step.failure.until}: ${step.failure.error}`);
    },
    error: (error: unknown) => {
      said.push(error instanceof StartError ? `${error.reason} # ${error.message}` : String(error));
    },
  });
  return said;
}

/** A node whose image store says one thing after another. */
function images(...statuses: readonly ImageStatusResponse[]): Images {
  let asked = 0;
  return {
    status: () => of(statuses[Math.min(asked++, statuses.length - 1)] ?? ABSENT),
    pull: () => of({ ref: 'sha256:1', took: 0 }),
  };
}

describe('ensureImage', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable }) => {
      const present = '    --(ni|)';
      const absent = '     --n----(ni|)';
      const pullFails = '  --n----(nf#)';
      const tooSoon = '    --(n#)';

      const answering = (pulled: ImageStatusResponse, pull: string): Images => {
        let isPulled = false;
        return {
          status: () => {
            const answer$ = cold<ImageStatusResponse>('--(s|)', { s: isPulled ? pulled : ABSENT });
            isPulled = true;
            return answer$;
          },
          pull: () => cold(pull, { r: { ref: 'sha256:1', took: 0 } }),
        };
      };
      const told = (memory: PodMemory, node: Images) =>
        letters(ensureImage(container('IfNotPresent'), memory, ASKER, node));
      const error = (reason: string, message: string) => new StartError(reason, message, reason);

      const there: Images = { status: () => cold('--(s|)', { s: PRESENT }), pull: () => cold('#') };
      expectObservable(told(NO_MEMORY, there)).toBe(present);
      expectObservable(told(NO_MEMORY, answering(PRESENT, '---(r|)'))).toBe(absent);
      expectObservable(told(NO_MEMORY, answering(ABSENT, '-----#'))).toBe(
        pullFails,
        undefined,
        error('ErrImagePull', 'error'),
      );
      expectObservable(told(after(FAILED), answering(ABSENT, '(r|)'))).toBe(
        tooSoon,
        undefined,
        error('ImagePullBackOff', 'Back-off pulling image "busybox:1": ErrImagePull: 404'),
      );
    }),
  );

  const pulledIn = (times: RegExp, size = 0): unknown =>
    expect.stringMatching(
      new RegExp(`^Pulled: Successfully pulled image "busybox:1" in ${times.source}\\. Image size: ${size} bytes\\.$`),
    );
  const ANY_TIMES = /\d+ms \(\d+ms including waiting\)/;

  it.each<{
    rule: string;
    policy: Container['imagePullPolicy'];
    store: readonly ImageStatusResponse[];
    said: readonly unknown[];
  }>([
    {
      rule: 'IfNotPresent takes an image that is present, and says so',
      policy: 'IfNotPresent',
      store: [PRESENT],
      said: ['Pulled: Container image "busybox:1" already present on machine', 'image sha256:1'],
    },
    {
      rule: 'IfNotPresent pulls an image that is absent; Pulling and Pulled tell it',
      policy: 'IfNotPresent',
      store: [ABSENT, PRESENT],
      said: ['Pulling: Pulling image "busybox:1"', pulledIn(ANY_TIMES), 'image sha256:1'],
    },
    {
      rule: 'Always pulls an image that is present',
      policy: 'Always',
      store: [PRESENT],
      said: ['Pulling: Pulling image "busybox:1"', pulledIn(ANY_TIMES), 'image sha256:1'],
    },
    {
      rule: 'Never takes an image that is present',
      policy: 'Never',
      store: [PRESENT],
      said: ['Pulled: Container image "busybox:1" already present on machine', 'image sha256:1'],
    },
    {
      rule: 'Never pulls nothing: an image that is absent is ErrImageNeverPull',
      policy: 'Never',
      store: [ABSENT],
      said: [
        'ErrImageNeverPull: Container image "busybox:1" is not present with pull policy of Never',
        'ErrImageNeverPull # Container image "busybox:1" is not present with pull policy of Never',
      ],
    },
    {
      rule: 'without a policy an image that is present is taken',
      policy: undefined,
      store: [PRESENT],
      said: ['Pulled: Container image "busybox:1" already present on machine', 'image sha256:1'],
    },
  ])('$rule', ({ policy, store, said }) => {
    expect(words(ensureImage(container(policy), NO_MEMORY, ASKER, images(...store)))).toEqual(said);
  });

  it(
    'Pulled tells how long the pull took, with and without the wait for its turn, and the size of the image',
    marbles(({ cold, expectObservable }) => {
      const sized: ImageStatusResponse = { image: { id: 'sha256:1', size: 4_711 } };
      const node: Images = {
        ...images(ABSENT, sized),
        pull: () => cold('3s (r|)', { r: { ref: 'sha256:1', took: 1_250 } }),
      };
      const note$ = ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, node).pipe(
        concatMap((step) => (step.kind === 'note' && step.note.reason === 'Pulled' ? of(step.note.message) : EMPTY)),
      );
      expectObservable(note$).toBe('3s (m|)', {
        m: 'Successfully pulled image "busybox:1" in 1.250s (3.000s including waiting). Image size: 4711 bytes.',
      });
    }),
  );

  it('while a pull backs off BackOff tells it, and the reason is ImagePullBackOff with the error before', () => {
    const held: FailedPull = { delay: 10_000, until: asyncScheduler.now() + 9_000, error: 'ErrImagePull: 404' };
    const notes: unknown[] = [];
    let failure: unknown;
    ensureImage(container('IfNotPresent'), after(held), ASKER, images(ABSENT)).subscribe({
      next: (step) => step.kind === 'note' && notes.push(step.note),
      error: (error: unknown) => {
        failure = error;
      },
    });
    expect(notes).toEqual([{ level: 'Normal', reason: 'BackOff', message: 'Back-off pulling image "busybox:1"' }]);
    expect(failure).toEqual(
      new StartError('ImagePullBackOff', 'Back-off pulling image "busybox:1": ErrImagePull: 404', 'ImagePullBackOff'),
    );
  });

  it('an image that has come meanwhile is taken, however long its pull would still back off', () => {
    const held: FailedPull = { delay: 10_000, until: asyncScheduler.now() + 9_000, error: 'ErrImagePull: 404' };
    expect(words(ensureImage(container('IfNotPresent'), after(held), ASKER, images(PRESENT))).at(-1)).toBe(
      'image sha256:1',
    );
  });

  it('the runtime is asked for latest where neither tag nor digest is given, people are told what the manifest says', () => {
    const asked: string[] = [];
    const node: Images = {
      ...images(PRESENT),
      status: (image) => {
        asked.push(image);
        return of(PRESENT);
      },
    };
    expect(words(ensureImage(container('IfNotPresent', 'busybox'), NO_MEMORY, ASKER, node))[0]).toContain('"busybox"');
    expect(asked).toEqual(['busybox:latest']);
  });

  it('a runtime that does not tell of an image is ImageInspectError, and InspectFailed tells it', () => {
    const broken: Images = { ...images(), status: () => throwError(() => new Error('no answer')) };
    expect(words(ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, broken))).toEqual([
      'InspectFailed: Failed to inspect image "busybox:1": no answer',
      'ImageInspectError # Failed to inspect image "busybox:1": no answer',
    ]);
  });

  it('an image that the runtime does not show after its pull is ErrImagePull', () => {
    const said = words(ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, images(ABSENT, ABSENT)));
    expect(said.at(-1)).toBe('ErrImagePull # the runtime does not show the image that it has pulled');
  });

  it('Failed tells of a pull that failed; only the log hears when it is tried again', () => {
    const node: Images = { ...images(ABSENT), pull: () => throwError(() => new Error('404')) };
    const notes: unknown[] = [];
    ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, node).subscribe({
      next: (step) => step.kind === 'note' && notes.push(step.note),
      error: () => undefined,
    });
    expect(notes.at(-1)).toEqual({
      level: 'Warning',
      reason: 'Failed',
      message: 'Failed to pull image "busybox:1": 404',
      nextTry: 10_000,
    });
  });

  it.each([
    {
      rule: 'RegistryUnavailable at the beginning of an error is its reason',
      message: 'RegistryUnavailable: try later',
      reason: 'RegistryUnavailable',
    },
    {
      rule: 'SignatureValidationFailed at the beginning of an error is its reason',
      message: 'SignatureValidationFailed: no',
      reason: 'SignatureValidationFailed',
    },
    {
      rule: 'every other error of a pull is ErrImagePull',
      message: 'rpc error: RegistryUnavailable',
      reason: 'ErrImagePull',
    },
  ])('$rule', ({ message, reason }) => {
    const node: Images = { ...images(ABSENT), pull: () => throwError(() => new Error(message)) };
    const said = words(ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, node));
    expect(said.at(-1)).toBe(`${reason} # ${message}`);
  });

  it(
    'a pull waits 10, 20, 40, ... up to 300 seconds after failures in a row, which ten quiet minutes make forgotten',
    marbles(({ cold, expectObservable }) => {
      const node: Images = { status: () => of(ABSENT), pull: () => cold('#') };
      const delayAfter = (at: string, failed?: FailedPull): Observable<FailedPull> =>
        cold(at).pipe(
          concatMap(() => ensureImage(container('IfNotPresent'), failed ? after(failed) : NO_MEMORY, ASKER, node)),
          concatMap((step) => (step.kind === 'failedPull' ? of(step.failure) : EMPTY)),
          catchError(() => EMPTY),
        );
      const failed = (delay: number, until: number): FailedPull => ({ delay, until, error: 'ErrImagePull: error' });
      expectObservable(delayAfter('(a|)')).toBe('(f|)', { f: failed(10_000, 10_000) });
      expectObservable(delayAfter('10s (a|)', failed(10_000, 10_000))).toBe('10s (f|)', { f: failed(20_000, 30_000) });
      expectObservable(delayAfter('300s (a|)', failed(300_000, 300_000))).toBe('300s (f|)', {
        f: failed(300_000, 600_000),
      });
      expectObservable(delayAfter('601s (a|)', failed(300_000, 300_000))).toBe('601s (f|)', {
        f: failed(10_000, 611_000),
      });
    }),
  );

  it(
    'a pull does not wait for a clock that was set back',
    marbles(({ expectObservable }) => {
      const failed: FailedPull = { delay: 10_000, until: 86_400_000, error: '' };
      expectObservable(
        letters(ensureImage(container('IfNotPresent'), after(failed), ASKER, images(ABSENT, PRESENT))),
      ).toBe('(nni|)');
    }),
  );

  it(
    'all who ask for one image at the same time share one pull',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const registry = cold(' -----(r|)', { r: { ref: 'sha256:1', took: 0 } });
      let isPulled = false;
      const node: Images = {
        status: () => of(isPulled ? PRESENT : ABSENT),
        pull: shareByKey(
          () =>
            registry.pipe(
              map((ref) => {
                isPulled = true;
                return ref;
              }),
            ),
          ({ image }) => image,
        ),
      };
      const first = '         n----(ni|)';
      const second = '        --n--(ni|)';
      const ask$ = letters(ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, node));
      expectObservable(ask$).toBe(first);
      expectObservable(ask$, '--^').toBe(second);
      expectSubscriptions(registry.subscriptions).toBe('^----!');
    }),
  );

  it(
    'a pull that nobody waits for any more is cancelled',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const registry = cold('-----(r|)', { r: { ref: 'sha256:1', took: 0 } });
      const node: Images = { status: () => of(ABSENT), pull: () => registry };
      expectObservable(letters(ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, node)), '^--!').toBe('n');
      expectSubscriptions(registry.subscriptions).toBe('^--!');
    }),
  );
});

describe('withTag', () => {
  it.each([
    ['a name without tag and digest means latest', 'busybox', 'busybox:latest'],
    ['a tag is taken as it stands', 'busybox:1', 'busybox:1'],
    ['the port of a registry is no tag', 'host:5000/busybox', 'host:5000/busybox:latest'],
    ['a tag stands beside a port', 'host:5000/busybox:1', 'host:5000/busybox:1'],
    ['a digest needs no tag', 'busybox@sha256:12', 'busybox@sha256:12'],
  ])('%s', (_rule, image, tagged) => {
    expect(withTag(image)).toBe(tagged);
  });

  it('a name that is none is InvalidImageName, InspectFailed tells it, and nobody is asked', () => {
    const problem =
      'Failed to apply default image tag "Gold.Test/UPPER:1": couldn\'t parse image name "Gold.Test/UPPER:1": invalid reference format: repository name (UPPER) must be lowercase';
    expect(words(ensureImage(container('Always', 'Gold.Test/UPPER:1'), NO_MEMORY, ASKER, images()))).toEqual([
      `InspectFailed: ${problem}`,
      `InvalidImageName # ${problem}`,
    ]);
  });

  it(
    'a pull that takes long is told of every half minute',
    marbles(({ cold, expectObservable }) => {
      const node: Images = {
        ...images(ABSENT, PRESENT),
        pull: () => cold('70s (r|)', { r: { ref: 'sha256:1', took: 70_000 } }),
      };
      expectObservable(letters(ensureImage(container('IfNotPresent'), NO_MEMORY, ASKER, node))).toBe(
        'n 29999ms n 29999ms n 9999ms (ni|)',
      );
    }),
  );
});
