import { NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from '../../../src/model/pod.ts';
import { environmentOf } from '../../../src/runtime/environment.ts';
import { StartError } from '../../../src/runtime/ensure-image.ts';
import type { Files } from '../../../src/streams/ports/files.ts';
import { aConfigMap, aSecret, aSet } from '../../unit/model/objects/a-set.ts';
import { context, fakeFiles, pod, wanted } from '../fakes.ts';
import { marbles } from '../harness.ts';

type Variables = NonNullable<Container['env']>;

const ADDRESSES = { podIps: ['10.0.0.7'], hostIps: ['192.0.2.2'] };
const BOX: Partial<PodSpec> = { volumes: [{ name: 'box', emptyDir: {} }] };
const FILE = '/root/pods/u-1/volumes/kubernetes.io~empty-dir/box/vars.env';

function environment(env: Variables, files: Files = fakeFiles([]), spec: Partial<PodSpec> = BOX) {
  return environmentOf(pod({ spec }), wanted('main', { env }), ADDRESSES, context({ files }));
}

/** As `NAME=value`, or the reason and the message of what is wrong. */
function outcome(environment$: Observable<ReadonlyMap<string, string>>): unknown {
  let result: unknown;
  environment$.subscribe({
    next: (variables) => {
      result = [...variables].map(([name, value]) => `${name}=${value}`);
    },
    error: (error: unknown) => {
      result = error instanceof StartError ? `${error.reason}: ${error.message}` : error;
    },
  });
  return result;
}

const holding = (text: string): Files => fakeFiles([], {}, new Map([[FILE, text]]));
const fromFile = (key: string, optional = false, path = 'vars.env'): Variables => [
  { name: 'X', valueFrom: { fileKeyRef: { key, path, volumeName: 'box', optional } } },
];
const failure = (message: string): string => `CreateContainerConfigError: ${message}`;

describe('environmentOf', () => {
  it('gives variables once each, expanded by those before them, the last of a name winning', () => {
    const variables: Variables = [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)-$(C)' },
      { name: 'C', value: '3' },
      { name: 'A', value: '$(A)$(A)' },
      { name: 'EMPTY' },
    ];
    expect(outcome(environment(variables))).toEqual(['A=11', 'B=1-$(C)', 'C=3', 'EMPTY=']);
  });

  const OBJECTS = aSet(
    aConfigMap('web', { COLOR: 'red', SIZE: '1', DOLLAR: '$(SIZE)' }),
    aConfigMap('more', { SIZE: '2' }),
    aSecret('login', { PASSWORD: 'hunter2' }),
  );
  const WEB = { configMapRef: { name: 'web' } };
  const MORE = { configMapRef: { name: 'more' } };

  it.each<[rule: string, container: Partial<Container>, expected: unknown]>([
    ['gives no variables of its own, none of services among them', {}, []],
    [
      'expands a variable by one before it',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '<$(A)>' },
        ],
      },
      ['A=1', 'B=<1>'],
    ],
    [
      'does not expand a variable by one behind it',
      {
        env: [
          { name: 'B', value: '<$(A)>' },
          { name: 'A', value: '1' },
        ],
      },
      ['B=<$(A)>', 'A=1'],
    ],
    [
      'lets the last variable of a name win',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      ['A=2'],
    ],
    ['gives a variable without a value as an empty one', { env: [{ name: 'A' }] }, ['A=']],
    [
      'gives all variables of an object, as they stand there',
      { envFrom: [WEB] },
      ['COLOR=red', 'SIZE=1', 'DOLLAR=$(SIZE)'],
    ],
    ['puts a prefix before the variables of an object', { envFrom: [{ prefix: 'P_', ...MORE }] }, ['P_SIZE=2']],
    [
      'lets a later object win over an earlier one',
      { envFrom: [WEB, MORE] },
      ['COLOR=red', 'SIZE=2', 'DOLLAR=$(SIZE)'],
    ],
    ['lets a variable win over those of objects', { envFrom: [MORE], env: [{ name: 'SIZE', value: '3' }] }, ['SIZE=3']],
    [
      'expands a variable by those of objects',
      { envFrom: [MORE], env: [{ name: 'A', value: '<$(SIZE)>' }] },
      ['SIZE=2', 'A=<2>'],
    ],
    [
      'gives one key of a ConfigMap, and one of a Secret',
      {
        env: [
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'web', key: 'COLOR' } } },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'login', key: 'PASSWORD' } } },
        ],
      },
      ['A=red', 'B=hunter2'],
    ],
    [
      'fails where a whole object is missing',
      { envFrom: [{ secretRef: { name: 'none' } }] },
      failure('secret "none" not found'),
    ],
    [
      'fails where the object of one key is missing',
      { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'none', key: 'k' } } }] },
      failure('configmap "none" not found'),
    ],
    [
      'fails where the key of an object is missing',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'login', key: 'k' } } }] },
      failure("couldn't find key k in Secret default/login"),
    ],
    [
      'leaves out what is optional and missing',
      {
        envFrom: [{ configMapRef: { name: 'none', optional: true } }],
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'k', optional: true } } },
          { name: 'B', value: '<$(A)>' },
        ],
      },
      ['B=<$(A)>'],
    ],
  ])('%s', (_rule, container, expected) => {
    const ground = context({ objects$: of(OBJECTS) });
    expect(outcome(environmentOf(pod(), wanted('main', container), ADDRESSES, ground))).toEqual(expected);
  });

  it('tells of the pod, its addresses and its resources, and lets later variables use that', () => {
    const variables: Variables = [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      { name: 'ALL', value: '$(NAME) $(IP) $(HOST) $(CPUS)' },
    ];
    expect(outcome(environment(variables))).toContain('ALL=web 10.0.0.7 192.0.2.2 2');
  });

  it('does not expand what comes from elsewhere', () => {
    const labelled = pod({ metadata: { labels: { odd: '$(A)' } } });
    const env: Variables = [
      { name: 'A', value: '1' },
      { name: 'ODD', valueFrom: { fieldRef: { fieldPath: "metadata.labels['odd']" } } },
    ];
    expect(outcome(environmentOf(labelled, wanted('main', { env }), ADDRESSES, context()))).toEqual([
      'A=1',
      'ODD=$(A)',
    ]);
  });

  it('fails where a container that is asked about is not there', () => {
    const ref = { resource: 'limits.cpu', containerName: 'ghost' };
    expect(outcome(environment([{ name: 'X', valueFrom: { resourceFieldRef: ref } }]))).toBe(
      failure('container ghost not found'),
    );
  });

  it.each<[string, string, Variables, unknown]>([
    ['reads a key of a file in a volume', "A='1'\nB='two words'\n", fromFile('B'), ['X=two words']],
    ['leaves out an optional key that is not in the file', "A='1'\n", fromFile('B', true), []],
    [
      'fails without a key that is not in the file',
      "A='1'\n",
      fromFile('B'),
      failure('environment variable key "B" not found in file'),
    ],
    ['fails over a file of variables in another form', 'A=1\n', fromFile('A'), failure("couldn't parse env file")],
    [
      'fails over a file in another form also for an optional key',
      'A=1\n',
      fromFile('A', true),
      failure("couldn't parse env file"),
    ],
    [
      'fails over a value of more than 32 KiB in a file',
      `A='${'x'.repeat(32_769)}'\n`,
      fromFile('A'),
      failure('environment variable value for key "A" exceeds maximum size of 32KB'),
    ],
    [
      'fails over a key of more than 128 characters in a file',
      '',
      fromFile('K'.repeat(129)),
      failure(`environment variable key "${'K'.repeat(129)}" exceeds maximum length of 128 characters`),
    ],
  ])('%s', (_rule, text, variables, expected) => {
    expect(outcome(environment(variables, holding(text)))).toEqual(expected);
  });

  it('needs the file of a variable, unless that is optional', () => {
    expect(outcome(environment(fromFile('A', true)))).toEqual([]);
    expect(outcome(environment(fromFile('A')))).toBe(failure("couldn't parse env file"));
  });

  it('reads files of emptyDir volumes only', () => {
    const elsewhere = { volumes: [{ name: 'box', hostPath: { path: '/etc' } }] };
    expect(outcome(environment(fromFile('A'), holding(''), elsewhere))).toBe(
      failure('cannot find the volume "box" referenced by FileKeyRef'),
    );
  });

  it('follows no link that a container has left in the volume', () => {
    const linked = (path: string): Files =>
      fakeFiles([], { readLink: (at) => of(at === path ? '/etc' : undefined) }, new Map([[FILE, "A='1'\n"]]));
    expect(outcome(environment(fromFile('A'), linked(FILE)))).toBe(failure("couldn't parse env file"));
    const inside = FILE.replace('/vars.env', '/sub');
    expect(outcome(environment(fromFile('A', false, 'sub/vars.env'), linked(inside)))).toBe(
      failure("couldn't parse env file"),
    );
    expect(outcome(environment(fromFile('A', false, '../vars.env'), holding("A='1'\n")))).toBe(
      failure("couldn't parse env file"),
    );
  });

  it('passes on the error of the disk', () => {
    const broken = fakeFiles([], { readFile: () => throwError(() => new Error('EIO: i/o error')) });
    expect(outcome(environment(fromFile('A'), broken))).toEqual(new Error('EIO: i/o error'));
  });

  it(
    'reads only when it is subscribed to, and stops when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const reading$ = cold('   --------(t|)', { t: "A='1'\n" });
      const files = fakeFiles([], { readFile: () => reading$ });
      const environment$ = environment(fromFile('A'), files);
      expectSubscriptions(reading$.subscriptions).toBe(['^--!']);
      expectObservable(environment$, '                  ^--!').toBe('----');
      expectObservable(environment([], fakeFiles([], { readFile: () => NEVER }))).toBe('(v|)', {
        v: new Map(),
      });
    }),
  );
});
