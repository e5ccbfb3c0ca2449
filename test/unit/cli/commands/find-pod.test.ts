import { describe, expect, it } from 'vitest';
import type { CliError } from '../../../../src/cli/cli-error.ts';
import { findPod } from '../../../../src/cli/commands/find-pod.ts';
import type { NodeView } from '../../../../src/streams/view/node-view.ts';
import { NODE, podView } from './views.ts';

const spec = { nodeName: 'N1' };
const VIEW: NodeView = {
  ...NODE,
  pods: [
    podView('default/web-n1', ['app'], { spec, phase: 'terminating' }),
    podView('default/web-n1', ['app'], { spec, phase: 'waiting' }),
    podView('default/cache-n1', ['app'], { spec }),
    podView('data/cache-n1', ['app'], { spec }),
    podView('data/postgres-n1', ['app'], { spec }),
  ],
};

function found(name: string, namespace?: string): readonly string[] {
  return findPod(VIEW, { name, namespace }).map(({ pod }) => `${pod.metadata.namespace}/${pod.metadata.name}`);
}

function refusal(name: string, namespace?: string): Pick<CliError, 'message' | 'hint' | 'exitCode'> {
  try {
    findPod(VIEW, { name, namespace });
  } catch (error) {
    return error as CliError;
  }
  throw new Error('it was found');
}

describe('findPod', () => {
  it.each([['postgres-n1'], ['postgres'], ['data/postgres'], ['pod/postgres-n1'], ['pods/postgres']])(
    'finds a pod that is called %s',
    (name) => {
      expect(found(name)).toEqual(['data/postgres-n1']);
    },
  );

  it('finds both versions of a pod that is being replaced', () => {
    expect(findPod(VIEW, { name: 'web', namespace: undefined }).map(({ phase }) => phase)).toEqual([
      'terminating',
      'waiting',
    ]);
  });

  it('asks which namespace is meant where several have the name', () => {
    expect(found('cache', 'data')).toEqual(['data/cache-n1']);
    expect(refusal('cache')).toMatchObject({
      exitCode: 2,
      message: 'several namespaces have a pod "cache"',
      hint: 'Say -n default or -n data.',
    });
  });

  it.each([
    ['wbe', 'Did you mean web-n1? rxlet ps lists all pods.'],
    ['postgers-n1', 'Did you mean postgres-n1? rxlet ps lists all pods.'],
    ['post', 'Did you mean postgres-n1? rxlet ps lists all pods.'],
    ['nothing-like-it', 'rxlet ps lists all pods.'],
  ])('names what is near to %s', (name, hint) => {
    expect(refusal(name)).toMatchObject({ exitCode: 2, message: `there is no pod "${name}"`, hint });
  });

  it('tells where the pod is that is not in the namespace', () => {
    expect(refusal('postgres', 'default')).toMatchObject({
      message: 'there is no pod "postgres" in the namespace default',
      hint: 'There is one in the namespace data.',
    });
  });
});
