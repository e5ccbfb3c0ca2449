import { describe, expect, it } from 'vitest';
import type { CriCall } from '../../../../src/streams/ports/meter.ts';
import type { TraceFact } from '../../../../src/streams/trace/trace-event.ts';
import { traceMeter } from '../../../../src/streams/trace/trace-meter.ts';

const LABELS = {
  'io.kubernetes.pod.uid': 'u',
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
  'io.kubernetes.container.name': 'app',
};
const POD = { uid: 'u', name: 'web', namespace: 'default' };

/** What is traced of calls that come one after the other. */
function traced(
  ...calls: readonly Pick<CriCall, 'operation' | 'request' | 'answer' | 'error'>[]
): readonly TraceFact[] {
  const facts: TraceFact[] = [];
  const meter = traceMeter((fact) => facts.push(fact));
  for (const call of calls) {
    meter({ kind: 'criCall', took: 5, outcome: call.error === undefined ? 'done' : 'failed', ...call });
  }
  return facts;
}

const run = { operation: 'run_podsandbox', request: { config: { metadata: POD } }, answer: { podSandboxId: 's1' } };
const create = {
  operation: 'create_container',
  request: {
    podSandboxId: 's1',
    sandboxConfig: { metadata: POD },
    config: { metadata: { name: 'app' }, envs: [{ key: 'PASSWORD', value: 'hunter2' }], args: ['hunter2'] },
  },
  answer: { containerId: 'c1' },
};

describe('traceMeter', () => {
  it('knows whose calls are that make something, and whose those that name what was made', () => {
    expect(
      traced(
        run,
        create,
        { operation: 'start_container', request: { containerId: 'c1' } },
        { operation: 'stop_podsandbox', request: { podSandboxId: 's1' } },
      ),
    ).toEqual([
      { kind: 'call', call: 'run_podsandbox', took: 5, outcome: 'done', pod: POD },
      { kind: 'call', call: 'create_container', took: 5, outcome: 'done', pod: POD, container: 'app' },
      { kind: 'call', call: 'start_container', took: 5, outcome: 'done', pod: POD, container: 'app' },
      { kind: 'call', call: 'stop_podsandbox', took: 5, outcome: 'done', pod: POD },
    ]);
  });

  it('learns from lists whose things are that an earlier agent made', () => {
    const facts = traced(
      {
        operation: 'list_podsandbox',
        answer: {
          items: [
            { id: 's9', labels: LABELS },
            { id: 'x', labels: {} },
          ],
        },
      },
      { operation: 'list_containers', answer: { containers: [{ id: 'c9', labels: LABELS }] } },
      { operation: 'container_status', request: { containerId: 'c9' } },
      { operation: 'list_containers', request: { filter: { labelSelector: { 'io.kubernetes.pod.uid': 'u' } } } },
      { operation: 'stop_podsandbox', request: { podSandboxId: 'x' } },
    );
    expect(facts.slice(2)).toMatchObject([{ pod: POD, container: 'app' }, { pod: POD }, { call: 'stop_podsandbox' }]);
    expect(facts[0]).not.toHaveProperty('pod');
    expect(facts[4]).not.toHaveProperty('pod');
  });

  it('tells of pulls the image, and of failures the message, and nothing else of what was sent', () => {
    const facts = traced(
      create,
      {
        operation: 'pull_image',
        request: { image: { image: 'reg/app:1' }, auth: { username: 'me', password: 'hunter2' } },
        error: new Error('no such image'),
      },
      {
        operation: 'exec_sync',
        request: { containerId: 'c1', cmd: ['sh', '-c', 'hunter2'] },
        answer: { stdout: 'hunter2' },
      },
    );
    expect(facts[1]).toEqual({
      kind: 'call',
      call: 'pull_image',
      took: 5,
      outcome: 'failed',
      image: 'reg/app:1',
      error: 'no such image',
    });
    expect(JSON.stringify(facts)).not.toContain('hunter2');
  });

  it('holds back what the runtime says of a command that holds a Secret, also of one that an earlier agent made', () => {
    const annotations = { 'rxlet.dev/secret-in-command': 'true' };
    const error = new Error('exec: "/bin/hunter2": permission denied');
    const { config } = create.request;
    const facts = traced(
      { ...create, request: { ...create.request, config: { ...config, annotations } }, error },
      { operation: 'list_containers', answer: { containers: [{ id: 'c8', labels: LABELS, annotations }] } },
      { operation: 'start_container', request: { containerId: 'c8' }, error },
    );
    expect(facts[2]).toMatchObject({ error: expect.stringMatching(/^permission denied; /) as string });
    expect(facts[2]).not.toHaveProperty('isSecret');
    expect(JSON.stringify(facts)).not.toContain('hunter2');
  });

  it('has one object for each pod, however much is told of it', () => {
    const facts = traced(run, create, { operation: 'start_container', request: { containerId: 'c1' } });
    const pods = new Set(facts.flatMap((fact) => (fact.kind === 'call' && fact.pod ? [fact.pod] : [])));
    expect(pods.size).toBe(1);
  });

  it('remembers a bounded number of things, the newest of them', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({ id: `c${index}`, labels: LABELS }));
    const facts = traced(
      { operation: 'list_containers', answer: { containers: many } },
      { operation: 'container_status', request: { containerId: 'c0' } },
      { operation: 'container_status', request: { containerId: 'c9999' } },
    );
    expect(facts[1]).not.toHaveProperty('pod');
    expect(facts[2]).toMatchObject({ pod: POD });
  });
});
