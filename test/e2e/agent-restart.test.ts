import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

/** Starts and ends it until it was quick enough: the machine may stand still for a moment, but not each time. */
async function endsWithinTwoSeconds(node: TestNode, amid: (nth: number) => Promise<void>): Promise<void> {
  const took: number[] = [];
  for (let nth = 0; nth < 5; nth++) {
    await node.start();
    await amid(nth);
    const exit = await node.signal('SIGTERM');
    expect(exit).toMatchObject({ code: 0, signal: null });
    if (exit.took < 2_000) return;
    took.push(exit.took);
  }
  expect.fail(`it took ${took.join(', ')} ms`);
}

describe('SIGTERM', () => {
  test('ends the agent within two seconds with code 0, and its pods run on under the next agent', async () => {
    const node = await testNode();
    node.dropManifest('calm.yaml', podYaml({ name: 'calm', run: OBEDIENT }));
    const seen = new Set<string>();
    await endsWithinTwoSeconds(node, async () => {
      const before = await node.whenRunning('calm');
      seen.add(before.id);
    });
    const before = await node.whenRunning('calm');
    expect([...seen]).toEqual([before.id]);

    await node.start();
    await until('the pod to be served as running', async () => (await node.pod('calm'))?.status.phase === 'Running');
    expect(await node.running('calm')).toEqual([before]);
  });

  test('ends it within two seconds while it starts pods, too, and the next agent goes on with them', async () => {
    const node = await testNode();
    const names: string[] = [];
    await endsWithinTwoSeconds(node, async (nth) => {
      const fresh = Array.from({ length: 8 }, (_, i) => `busy-${nth}-${i}`);
      for (const name of fresh) node.dropManifest(`${name}.yaml`, podYaml({ name, run: OBEDIENT }));
      names.push(...fresh);
      await until('some sandbox of them', async () =>
        (await node.runtime.sandboxes()).some(({ pod }) => fresh.includes(pod)),
      );
    });
    await node.start();
    for (const name of names) await node.whenRunning(name);
  });

  test('with --stop-pods-on-exit ends the pods first: no process, mount or network of theirs is left', async () => {
    const node = await testNode();
    const before = onTheNode();
    node.dropManifest('guest.yaml', podYaml({ name: 'guest', run: OBEDIENT }));
    node.dropManifest('other.yaml', podYaml({ name: 'other', run: OBEDIENT }));
    await node.start('--stop-pods-on-exit');
    const first = await node.whenRunning('guest');
    await node.whenRunning('other');
    expect(onTheNode().length).toBeGreaterThan(before.length);

    expect(await node.signal('SIGTERM')).toMatchObject({ code: 0, signal: null });
    expect((await node.runtime.containers()).filter(({ state }) => state !== 'exited')).toEqual([]);
    expect((await node.runtime.sandboxes()).filter(({ ready }) => ready)).toEqual([]);
    await vi.waitFor(() => {
      expect(onTheNode().filter((thing) => !before.includes(thing))).toEqual([]);
    }, 60_000);

    await node.start();
    const again = await node.whenRunning('guest');
    expect(again.sandboxId).not.toBe(first.sandboxId);
  });
});

describe('an agent that was killed', () => {
  test('replaces, when it comes back, the pod whose manifest changed meanwhile, and ends the one whose manifest is gone', async () => {
    const node = await testNode();
    node.dropManifest('changed.yaml', podYaml({ name: 'changed', run: OBEDIENT, env: { V: 'old' } }));
    node.dropManifest('vanished.yaml', podYaml({ name: 'vanished', run: OBEDIENT }));
    node.dropManifest('same.yaml', podYaml({ name: 'same', run: OBEDIENT }));
    await node.start();
    const changed = await node.whenRunning('changed');
    const same = await node.whenRunning('same');
    await node.whenRunning('vanished');

    await node.signal('SIGKILL');
    node.dropManifest('changed.yaml', podYaml({ name: 'changed', run: OBEDIENT, env: { V: 'new' } }));
    node.removeManifest('vanished.yaml');
    await node.start();

    await node.whenRunning('changed', ({ id }) => id !== changed.id);
    await node.whenGone('vanished');
    expect(await node.running('same')).toEqual([same]);
  });

  test('starts the container that died while it was away', async () => {
    const node = await testNode();
    node.dropManifest('died.yaml', podYaml({ name: 'died', run: OBEDIENT }));
    await node.start();
    const before = await node.whenRunning('died');

    await node.signal('SIGKILL');
    process.kill((await node.runtime.times(before.id)).pid, 'SIGKILL');
    await until('it to be dead', async () => (await node.running('died')).length === 0);
    await node.start();

    const after = await node.whenRunning('died');
    expect(after).toMatchObject({ attempt: 1, sandboxId: before.sandboxId });
  });

  test('starts the very container that it had created and not started', async () => {
    const node = await testNode();
    node.dropManifest('halfway.yaml', podYaml({ name: 'halfway', run: OBEDIENT }));
    await node.start();
    const before = await node.whenRunning('halfway');

    await node.signal('SIGKILL');
    process.kill((await node.runtime.times(before.id)).pid, 'SIGKILL');
    await until('it to be dead', async () => (await node.running('halfway')).length === 0);
    const created = await node.runtime.createAgain(before.id);
    await node.start();

    const after = await node.whenRunning('halfway');
    expect(after).toMatchObject({ id: created, attempt: 1, sandboxId: before.sandboxId });
    await until('the restart to be served', async () => {
      const status = (await node.pod('halfway'))?.status.containerStatuses?.at(0);
      return status?.restartCount === 1 && status.state?.running !== undefined;
    });
    const all = (await node.runtime.containers()).filter(({ pod }) => pod === 'halfway');
    expect(all.filter(({ id }) => id !== created && id !== before.id)).toEqual([]);
  });
});

/** What pods hold on this node outside of the runtime's books: processes, mounts, network devices. */
function onTheNode(): readonly string[] {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => `process ${pid} ${commandOf(pid)}`)
    .filter((process) => /containerd-shim|sleep 3600/.test(process));
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => / \/run\/containerd\/| \/run\/netns\/|\/volumes\//.test(line));
  const devices = readdirSync('/sys/class/net').filter((name) => name.startsWith('veth'));
  return [...processes, ...mounts, ...devices];
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // has ended meanwhile
  }
}
