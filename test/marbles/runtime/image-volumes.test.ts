import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CreateContainerRequest } from '../../../src/model/cri/api.ts';
import { NO_MEMORY } from '../../../src/model/pod-memory.ts';
import { performPlan } from '../../../src/runtime/perform-plan.ts';
import type { Images } from '../../../src/runtime/ensure-image.ts';
import { context, fakeCri, observed, pod, sandbox, wanted } from '../fakes.ts';
import { unexpected } from '../operators/unexpected.ts';

interface Case {
  readonly reference?: string;
  readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** Whether the container mounts the volume. */
  readonly mounted?: boolean;
  /** Images that are on the node. */
  readonly present?: readonly string[];
  readonly pull?: Images['pull'];
}

/** Starts a container of `app:1` in a pod with an image volume; tells what was asked of images, and what came of it. */
function start({ reference = 'files:1', pullPolicy, mounted = true, present = ['app:1'], pull }: Case) {
  const asked: string[] = [];
  const there = new Set(present);
  const made: CreateContainerRequest[] = [];
  const images: Images = {
    status: (image) => of(there.has(image) ? { image: { id: `sha256:${image}` } } : {}),
    pull: (ask) => {
      asked.push(`pull ${ask.image}`);
      there.add(ask.image);
      return pull?.(ask) ?? of({ ref: `sha256:${ask.image}`, took: 0 });
    },
  };
  const main = wanted('main', { image: 'app:1', ...(mounted && { volumeMounts: [{ name: 'v', mountPath: '/v' }] }) });
  const asking = pod({
    spec: { volumes: [{ name: 'v', image: { reference, ...(pullPolicy && { pullPolicy }) } }], containers: [main] },
  });
  const cri = fakeCri([], {
    createContainer: (request) => {
      made.push(request);
      return of({ containerId: 'c' });
    },
  });
  const plan = {
    steps: [{ do: 'startContainer' as const, container: main, why: '', attempt: 0 }],
    waiting: new Map(),
    memory: NO_MEMORY,
    finished: false,
    sandbox: sandbox(),
  };
  let failure = '';
  const seen = observed({ sandboxes: [sandbox()] });
  performPlan(plan, asking, seen, NO_MEMORY, context({ cri, images })).subscribe({
    next: (it) => {
      if (it.kind === 'note' && it.note.reason === 'Pulled') asked.push(it.note.message);
      if (it.kind === 'done') failure = it.failures.get('main')?.reason ?? '';
    },
    error: unexpected,
  });
  return { asked, failure, mounts: made.map(({ config }) => config?.mounts?.[0]?.image) };
}

const already = (image: string): string => `Container image "${image}" already present on machine`;
const pulled = (image: string): unknown => expect.stringMatching(new RegExp(`^Successfully pulled image "${image}"`));

describe('an image volume', () => {
  it.each<{ rule: string; given: Case; asked: readonly unknown[]; failure?: string }>([
    {
      rule: 'the image of a volume is brought before that of the container that mounts it',
      given: {},
      asked: ['pull files:1', pulled('files:1'), already('app:1')],
    },
    {
      rule: 'the image of a volume is not pulled where it is present',
      given: { present: ['app:1', 'files:1'] },
      asked: [already('files:1'), already('app:1')],
    },
    {
      rule: 'the image of a volume is pulled at every start with the pullPolicy Always',
      given: { present: ['app:1', 'files:1'], pullPolicy: 'Always' },
      asked: ['pull files:1', pulled('files:1'), already('app:1')],
    },
    {
      rule: 'the image of a volume without a tag is pulled at every start where no pullPolicy is given',
      given: { present: ['app:1', 'files:latest'], reference: 'files' },
      asked: ['pull files:latest', pulled('files'), already('app:1')],
    },
    {
      rule: 'the image of a volume that nobody may pull keeps the container from starting',
      given: { pullPolicy: 'Never' },
      asked: [],
      failure: 'ErrImageNeverPull',
    },
    {
      rule: 'the image of a volume that cannot be pulled keeps the container from starting',
      given: { pull: () => throwError(() => new Error('404')) },
      asked: ['pull files:1'],
      failure: 'ErrImagePull',
    },
    {
      rule: 'the image of a volume is not brought for a container that does not mount it',
      given: { mounted: false },
      asked: [already('app:1')],
    },
  ])('$rule', ({ given, asked, failure = '' }) => {
    expect(start(given)).toMatchObject({ asked, failure });
  });

  it('the runtime gets the image of a volume as it knows it, beside its name in the pod', () => {
    expect(start({}).mounts).toEqual([{ image: 'sha256:files:1', annotations: {}, userSpecifiedImage: 'files:1' }]);
  });
});
