import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Far more than it takes. */
const LIMIT = { timeout: 100_000, interval: 100 };

test('quickstart says why there are no containers here, runs the examples without them, and leaves nothing', async () => {
  const [output, errors, ended] = quickstart();
  // What the agent and the table say of both pods.
  await expect
    .poll(output, LIMIT)
    .toMatch(/^ticker-simulated +ticker +Running +0 .*\n(?:.*\n)*?web-simulated +httpd +Running/m);
  if (canBeNobody) expect(errors()).toMatch(/no real containers here: needs root/);
  const [, node = ''] = /come from the files in +(\S+)\/manifests/.exec(output()) ?? [];
  expect(existsSync(`${node}/manifests/web.yaml`)).toBe(true);

  interrupt();
  expect(await ended).toBe(0);
  expect(errors()).toContain('stop the pods and the agent, remove the node');
  expect(existsSync(node)).toBe(false);
  expect(processesWith(node)).toEqual([]);
}, 300_000);

let interrupt = (): void => undefined;

const AS_NOBODY = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
const isRoot = process.getuid?.() === 0;
/** Who is not root has no rights anyway; root can give them up where others may read what lies here. */
const canBeNobody = !isRoot || spawnSync('setpriv', [...AS_NOBODY, 'test', '-r', process.cwd()]).status === 0;

/**
 * Starts it as a user without rights, as from a terminal: Ctrl-C reaches all that stands in the foreground. Where only
 * root may look in here it is asked for a simulated runtime, as it could have a real one.
 */
function quickstart(): [() => string, () => string, Promise<number | null>] {
  const plain = ['scripts/quickstart', ...(canBeNobody ? [] : ['--simulated'])];
  const [program = '', ...args] = isRoot && canBeNobody ? ['setpriv', ...AS_NOBODY, ...plain] : plain;
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  interrupt = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  };
  return [() => output, () => errors, new Promise((resolve) => child.once('close', resolve))];
}

function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(text));
}
