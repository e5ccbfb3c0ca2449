import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { parseExposition } from '../parse-exposition.ts';
import { evaluatedModules } from './harness/evaluated-modules.ts';
import { ask } from './harness/local-api.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';

/** What only commands, other sources and other listeners want: each is in the bundle, and asleep in an agent with files alone. */
const ASLEEP = [
  'src/cli/commands/',
  'src/cli/plan/',
  'src/cli/simulate/',
  'src/cli/spdy/',
  'src/host/pki/',
  'src/runtime/logs/',
  'src/simulation/',
  'src/sources/http/',
];

/** All that an agent with files alone runs of what others have written. */
const LIBRARIES = ['commander', 'protobufjs', '@protobufjs', 'rxjs', 'tslib', 'yaml'];

/** Bytes: some 80 MiB are usual; this is only for what goes wrong altogether. */
const MOST_MEMORY = 130 * 1024 * 1024;

describe('the built agent with pods from files alone', () => {
  test('runs no code of what it does not need', async () => {
    const node = await testNode();
    const coverage = join(node.paths.root, '..', 'coverage');
    mkdirSync(coverage);
    vi.stubEnv('NODE_V8_COVERAGE', coverage);
    try {
      await node.start();
    } finally {
      vi.unstubAllEnvs();
    }
    node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT }));
    await node.whenRunning('web');
    node.removeManifest('web.yaml');
    await node.whenGone('web');
    await node.signal('SIGTERM');

    const { known, evaluated } = evaluatedModules(coverage);
    expect(evaluated).toContain('src/cli/run.ts');
    for (const room of ASLEEP) {
      expect(known.filter((path) => path.startsWith(room))).not.toEqual([]);
      expect(evaluated.filter((path) => path.startsWith(room))).toEqual([]);
    }
    expect(
      [...new Set(evaluated.map(libraryOf))].filter((name) => name !== undefined && !LIBRARIES.includes(name)),
    ).toEqual([]);
  });

  test('takes little memory for twelve pods', async () => {
    const node = await testNode();
    await node.start();
    const names = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
    for (const name of names) node.dropManifest(`${name}.yaml`, podYaml({ name, run: OBEDIENT }));
    await Promise.all(names.map((name) => node.whenRunning(name)));

    const metrics = parseExposition(await ask(node.paths.socket, '/metrics'));
    const memory = metrics.get('process_resident_memory_bytes')?.samples[0]?.value;
    expect(memory).toBeGreaterThan(0);
    expect(memory).toBeLessThan(MOST_MEMORY);
  });
});

/** The npm package that a module is of; its scope where it has one. */
function libraryOf(path: string): string | undefined {
  return /^node_modules\/([^/]+)\//.exec(path)?.[1];
}
