import { describe, expect, test } from 'vitest';
import { writeBetween } from '../../../bench/write-between.ts';

describe('writeBetween', () => {
  test('replaces what stands between the marks, and nothing else', () => {
    const once = writeBetween('before\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nafter\n', 'new');

    expect(once).toBe('before\n<!-- bench: begin -->\n\nnew\n\n<!-- bench: end -->\nafter\n');
    expect(writeBetween(once, 'new')).toBe(once);
  });

  test('refuses a document without marks', () => {
    expect(() => writeBetween('nothing here', 'new')).toThrow('bench: begin');
  });
});
