import { Writable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { leave } from '../../../src/cli/leave.ts';
import { PATIENT } from '../../patience.ts';

describe('leave', () => {
  it('waits until all that was printed has been read', async () => {
    const unread: (() => void)[] = [];
    const output = new Writable({
      write: (_text, _encoding, done) => {
        unread.push(done);
      },
    });
    let isGone = false;
    output.write('a long story');
    leave(output, () => {
      isGone = true;
    });
    await new Promise(setImmediate);
    expect(isGone).toBe(false);
    unread.shift()?.();
    await vi.waitFor(() => {
      unread.shift()?.();
      expect(isGone).toBe(true);
    }, PATIENT);
  });

  it('does not wait for a reader who has gone', async () => {
    const output = new Writable({
      write: (_text, _encoding, done) => {
        done(new Error('EPIPE'));
      },
    });
    output.on('error', () => undefined);
    const gone = new Promise<void>((resolve) => {
      output.write('a long story');
      leave(output, resolve);
    });
    await expect(gone).resolves.toBeUndefined();
  });
});
