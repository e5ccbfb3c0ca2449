import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../../src/streams/trace/trace-event.ts';
import { rxlet } from './harness/cli.ts';
import { podYaml } from './harness/pod-yaml.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

/** Notes its start, from which on it can be asked to end, and its end in the node's folder; it ends once it may. */
const NOTES = `trap 'until [ -e /node/gate ]; do sleep 0.3; done; echo "end $V" >> /node/notes; exit 0' TERM; echo "start $V" >> /node/notes; while :; do sleep 3600 & wait; done`;
/**
 * Milliseconds from when the old pod is known to have ended to the first call for the new one: the kubelet takes 10 s or
 * more, because it polls; we do it at once, and the rest is for slow machines.
 */
const AT_ONCE = 9_000;

describe('an edited manifest', () => {
  test('#34: replaces its pod: the new one starts right after the old one has ended, never beside it', async () => {
    const { node, edit, notes, letEnd } = await nodeWithNotes();
    letEnd();
    edit('old');
    await node.start();
    const old = await node.whenRunning('edited');
    await until('it to begin', () => notes().includes('start old'));

    edit('new');
    const successor = await node.whenRunning('edited', ({ id }) => id !== old.id);
    await until('the new one to begin', () => notes().includes('start new'));
    expect(notes()).toEqual(['start old', 'end old', 'start new']);
    expect(successor).toMatchObject({ attempt: 0 });
    expect(successor.uid).not.toBe(old.uid);

    const events = (await rxlet(node, 'trace', '-o', 'json')).out.trimEnd().split('\n');
    const told = events.map((line) => JSON.parse(line) as TraceEvent);
    const over = told.find((event) => event.kind === 'outcome' && event.outcome === 'ended');
    const calls = told.filter((event) => event.kind === 'call' && event.call === 'run_podsandbox');
    const last = calls.at(-1);
    expect(over).toBeDefined();
    expect(calls).toHaveLength(2);
    const asked = (last?.at ?? Infinity) - (last?.kind === 'call' ? last.took : 0);
    expect(asked - (over?.at ?? 0)).toBeLessThan(AT_ONCE);
  });

  test('#5: of ten quick edits runs only the last', async () => {
    const { node, edit, notes, letEnd } = await nodeWithNotes();
    edit('0');
    await node.start();
    const old = await node.whenRunning('edited');
    await until('it to begin', () => notes().includes('start 0'));

    for (let i = 1; i <= 10; i++) edit(String(i));
    await until('the last edit to be known', async () =>
      (await node.view()).pods.some(({ pod }) => JSON.stringify(pod.spec).includes('"value":"10"')),
    );
    letEnd();
    await node.whenRunning('edited', ({ id }) => id !== old.id);
    await until('the last one to begin', () => notes().includes('start 10'));
    expect(notes()).toEqual(['start 0', 'end 0', 'start 10']);
    await until('only the last one to be served', async () => (await node.pods()).length === 1);
  });

  test('#14: with the same content touches nothing', async () => {
    const { node, edit, notes } = await nodeWithNotes();
    edit('same');
    await node.start();
    const before = await node.whenRunning('edited');
    await until('it to begin', () => notes().includes('start same'));

    edit('same');
    // Another manifest that comes later has been read after the rewritten one.
    node.dropManifest('later.yaml', podYaml({ name: 'later', run: 'sleep 3600', grace: 1 }));
    await node.whenRunning('later');
    expect(await node.running('edited')).toEqual([before]);
    expect(notes()).toEqual(['start same']);
  });
});

interface Notes {
  readonly node: TestNode;
  readonly edit: (v: string) => void;
  readonly notes: () => string[];
  /** From now on whoever was asked to end ends. */
  readonly letEnd: () => void;
}

async function nodeWithNotes(): Promise<Notes> {
  const node = await testNode();
  const folder = join(node.paths.manifests, '..', 'folder');
  mkdirSync(folder);
  return {
    node,
    edit: (v) => {
      node.dropManifest('edited.yaml', podYaml({ name: 'edited', run: NOTES, grace: 300, env: { V: v }, folder }));
    },
    notes: () => readFileSync(join(folder, 'notes'), 'utf8').trim().split('\n'),
    letEnd: () => {
      writeFileSync(join(folder, 'gate'), '');
    },
  };
}
