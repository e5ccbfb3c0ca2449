import { of, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import type { Volume } from '../../../../src/model/volumes/volume-dir.ts';
import { setUpClaim } from '../../../../src/runtime/volumes/set-up-claim.ts';
import type { PathType } from '../../../../src/streams/ports/files.ts';
import { aClaim, aSet } from '../../../unit/model/objects/a-set.ts';
import { context, fakeFiles, fakeVolumeFiles, podWith } from '../../fakes.ts';

const DIR = '/root/volumes/default/data';

/** What is done for a pod with this claim, of which the folder is `found`. */
function setUp(
  found: PathType,
  claim: object = { claimName: 'data' },
  securityContext?: Pod['spec']['securityContext'],
) {
  const log: string[] = [];
  let error: unknown;
  const note =
    (what: string) =>
    (path: string, how: unknown): Observable<undefined> => {
      log.push(`${what} ${path} ${typeof how === 'number' ? how.toString(8) : JSON.stringify(how)}`);
      return of(undefined);
    };
  const volume: Volume = { name: 'v', persistentVolumeClaim: claim as NonNullable<Volume['persistentVolumeClaim']> };
  const ground = context({
    files: fakeFiles([], { typeOf: () => of(found), makeDir: note('makeDir') }),
    volumeFiles: fakeVolumeFiles([], { setMode: note('setMode'), giveToGroup: note('giveToGroup') }),
    objects$: of(aSet(aClaim('data'))),
  });
  setUpClaim(podWith([volume], securityContext ? { securityContext } : {}), volume, ground).subscribe({
    error: (failure: unknown) => {
      error = failure instanceof Error ? failure.message : failure;
    },
  });
  return { log, error };
}

const MADE = [
  'makeDir /root/volumes 750',
  'makeDir /root/volumes/default 750',
  `makeDir ${DIR} 777`,
  `setMode ${DIR} 777`,
];
const given = (onlyOnMismatch: boolean): string =>
  `giveToGroup ${DIR} ${JSON.stringify({ group: 7, readOnly: false, onlyOnMismatch })}`;

describe('setUpClaim', () => {
  it.each([
    {
      rule: 'the folder of a claim is made for the first pod that needs it, and open to every user',
      is: setUp('missing'),
      log: MADE,
    },
    { rule: 'the folder of a claim that is there is not touched', is: setUp('directory'), log: [] },
    {
      rule: 'the folder of a claim is given to the fsGroup of each pod',
      is: setUp('directory', undefined, { fsGroup: 7 }),
      log: [given(false)],
    },
    {
      rule: 'fsGroupChangePolicy OnRootMismatch spares the folder of a claim that has the group already',
      is: setUp('directory', undefined, { fsGroup: 7, fsGroupChangePolicy: 'OnRootMismatch' }),
      log: [given(true)],
    },
    {
      rule: 'a claim that is mounted read-only is given to no group',
      is: setUp('directory', { claimName: 'data', readOnly: true }, { fsGroup: 7 }),
      log: [],
    },
  ])('$rule', ({ is, log }) => {
    expect(is).toEqual({ log, error: undefined });
  });

  it('a claim that nobody has declared fails the volume', () => {
    expect(setUp('directory', { claimName: 'other' })).toEqual({
      log: [],
      error: 'persistentvolumeclaim "other" not found',
    });
  });
});
