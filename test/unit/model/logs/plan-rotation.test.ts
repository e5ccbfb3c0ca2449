import { describe, expect, it } from 'vitest';
import { planRotation, type RotationFacts } from '../../../../src/model/logs/plan-rotation.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxBytes: 10 * MIB, maxFiles: 3 };

/** The steps in short: `rotate 0.log`, `remove 0.log.20260102-150400.gz`. */
function plan(mebibytes: Readonly<Record<string, number>>, more: Partial<RotationFacts> = {}): readonly string[] {
  const files = Object.entries(mebibytes).map(([file, size]) => ({ file, bytes: size * MIB }));
  const current = files.filter(({ file }) => /^\d+\.log$/.test(file)).at(-1)?.file ?? '0.log';
  const facts = { files, current, running: true, busy: new Set<string>(), rotatedName: `${current}.20260102-150409` };
  return planRotation({ ...facts, ...more }, LIMITS).map((step) =>
    step.kind === 'cut' ? `cut ${step.file} to ${Math.floor(step.keep / MIB)}` : `${step.kind} ${step.file}`,
  );
}

describe('planRotation', () => {
  it('rotates a log that is full, and only while something writes to it', () => {
    expect(plan({ '0.log': 9 })).toEqual([]);
    expect(plan({ '0.log': 10 })).toEqual(['rotate 0.log']);
    expect(plan({ '0.log': 10 }, { running: false })).toEqual([]);
  });

  it('compresses all rotated parts but the newest, the later ones first', () => {
    expect(plan({ '0.log': 1, '0.log.20260102-150401': 10, '0.log.20260102-150402': 10 })).toEqual([
      'compress 0.log.20260102-150401',
    ]);
    expect(plan({ '0.log': 10, '0.log.20260102-150401': 10 })).toEqual([
      'rotate 0.log',
      'compress 0.log.20260102-150401',
    ]);
  });

  it('leaves alone what is being compressed', () => {
    const files = {
      '0.log': 1,
      '0.log.20260102-150401': 10,
      '0.log.20260102-150401.tmp': 1,
      '0.log.20260102-150402': 1,
    };
    expect(plan(files, { busy: new Set(['0.log.20260102-150401']) })).toEqual([]);
  });

  it('clears away what a compression that was cut short has left', () => {
    const files = {
      '0.log': 1,
      '0.log.20260102-150401': 10,
      '0.log.20260102-150401.gz': 1,
      '0.log.20260102-150402.tmp': 1,
    };
    expect(plan(files)).toEqual(['remove 0.log.20260102-150401', 'remove 0.log.20260102-150402.tmp']);
  });

  it('keeps as many files as are allowed, the newest ones', () => {
    const files = { '0.log': 10, '0.log.20260102-150401.gz': 1, '0.log.20260102-150402': 10 };
    expect(plan(files)).toEqual(['rotate 0.log', 'remove 0.log.20260102-150401.gz', 'compress 0.log.20260102-150402']);
  });

  it('user-asks 64: counts the parts of all instances of a container together, and keeps the log of the one before', () => {
    const files = {
      '7.log': 2,
      '7.log.20260102-150401.gz': 1,
      '7.log.20260102-150402': 10,
      '8.log': 5,
      '8.log.20260102-150403.gz': 1,
      '8.log.20260102-150404': 10,
      '9.log': 1,
    };
    expect(plan(files)).toEqual(['remove 7.log.20260102-150401.gz', 'remove 7.log.20260102-150402', 'remove 7.log']);
  });

  it('holds the limit in bytes against a writer that was faster than rotation', () => {
    expect(plan({ '0.log': 100 })).toEqual(['rotate 0.log', 'cut 0.log.20260102-150409 to 20']);
    expect(plan({ '0.log': 1, '0.log.20260102-150401': 15, '0.log.20260102-150402': 12 })).toEqual([
      'compress 0.log.20260102-150401',
    ]);
    expect(plan({ '0.log': 1, '0.log.20260102-150401': 2, '0.log.20260102-150402': 50 })).toEqual([
      'cut 0.log.20260102-150402 to 20',
      'remove 0.log.20260102-150401',
    ]);
  });

  it('holds it against an instance that wrote too much and died before anybody could look', () => {
    expect(plan({ '0.log': 100 }, { running: false })).toEqual(['cut 0.log to 30']);
    expect(plan({ '0.log': 100, '1.log': 1 })).toEqual(['cut 0.log to 20']);
  });

  it('lets every file pass its size by its last line', () => {
    const full = 10 + 16 / 1024;
    expect(plan({ '0.log': full, '0.log.20260102-150401': full })).toEqual([
      'rotate 0.log',
      'compress 0.log.20260102-150401',
    ]);
    expect(plan({ '0.log': 2 * full }, { running: false })).toEqual([]);
  });

  it('keeps nothing that is older than a gap, and leaves alone what will be small once it is compressed', () => {
    const files = { '0.log.20260102-150401.gz': 1, '0.log.20260102-150402.gz': 15, '0.log.20260102-150403': 12 };
    const limits = { maxBytes: 10 * MIB, maxFiles: 4 };
    const facts = { current: '0.log', running: true, busy: new Set<string>(), rotatedName: '' };
    const sized = (all: Readonly<Record<string, number>>): RotationFacts['files'] =>
      Object.entries(all).map(([file, size]) => ({ file, bytes: size * MIB }));
    expect(planRotation({ ...facts, files: sized({ ...files, '0.log': 1 }) }, limits)).toEqual([]);
    const huge = { ...files, '0.log.20260102-150402.gz': 19, '0.log': 1 };
    expect(planRotation({ ...facts, files: sized(huge) }, limits)).toEqual([
      { kind: 'remove', file: '0.log.20260102-150402.gz' },
      { kind: 'remove', file: '0.log.20260102-150401.gz' },
    ]);
    const busy = new Set(['0.log.20260102-150401']);
    expect(plan({ '0.log': 1, '0.log.20260102-150401': 15, '0.log.20260102-150402': 12 }, { busy })).toEqual([]);
  });

  it('leaves alone what is none of its own', () => {
    expect(plan({ '0.log': 1, notes: 500, '0.log.bak': 500 })).toEqual([]);
  });
});
