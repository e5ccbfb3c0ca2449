import { readFileSync, writeFileSync } from 'node:fs';
import { lastValueFrom, reduce } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/cli/commands/simulate.ts';
import { parseCommandLine } from '../../src/cli/program.ts';

const DOCS = 'docs/simulate.md';

/** Sets the output in the documentation anew instead of comparing it. */
const updates = process.env['RXLET_UPDATE_DOCS'] !== undefined;

const BLOCK = /```console\n\$ (?<command>rxlet simulate .*)\n(?<output>[^]*?)```/g;

async function outputOf(command: string): Promise<string> {
  const parsed = parseCommandLine(command.split(' ').slice(1));
  if (parsed.kind !== 'simulate') throw new Error(`${command} is no simulation`);
  const terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
  const ports = { terminal: () => terminal, stdin: () => process.stdin };
  return lastValueFrom(simulate(parsed.options, ports).pipe(reduce((all, text) => all + text, '')));
}

describe('the examples of docs/simulate.md', () => {
  const text = readFileSync(DOCS, 'utf8');
  const blocks = [...text.matchAll(BLOCK)].map(({ groups }) => ({
    command: groups?.['command'] ?? '',
    output: groups?.['output'] ?? '',
  }));

  it('are three', () => {
    expect(blocks).toHaveLength(3);
  });

  it.each(blocks)('print what stands there: $command', async ({ command, output }) => {
    const fresh = await outputOf(command);
    if (updates)
      writeFileSync(
        DOCS,
        readFileSync(DOCS, 'utf8').replace(output, () => fresh),
      );
    else expect(fresh, `run with RXLET_UPDATE_DOCS=1 to set ${DOCS} anew`).toBe(output);
  });

  it.each(blocks)('show the script that lies in the examples: $command', ({ command }) => {
    const script = readFileSync(/--script (?<file>\S+)/.exec(command)?.groups?.['file'] ?? '', 'utf8');
    expect(text).toContain(`\`\`\`yaml\n${script}\`\`\``);
  });
});
