import { map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { UserNamespace } from '../../../src/model/cri/api.ts';
import { parseUserNamespace, printUserNamespace } from '../../../src/model/user-namespace.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { userNamespaces } from '../../../src/runtime/user-namespaces.ts';
import type { Files } from '../../../src/streams/ports/files.ts';
import { context, fakeFiles } from '../fakes.ts';
import { marbles } from '../harness.ts';

const A = 'a' as PodUid;
const B = 'b' as PodUid;
const { paths } = context();

/** A disk with these pods and the ids that they have. */
function diskOf(ids: Readonly<Record<string, number | undefined>>, more: Readonly<Record<string, string>> = {}) {
  const texts = new Map(Object.entries(more));
  for (const [uid, hostId] of Object.entries(ids))
    if (hostId !== undefined)
      texts.set(`/root/pods/${uid}/userns`, printUserNamespace({ start: hostId, length: 65_536 }));
  return { texts, files: fakeFiles([], { list: () => of(Object.keys(ids)) }, texts) };
}

function hostIdOf({ uids = [] }: UserNamespace): number | undefined {
  return uids[0]?.hostId;
}

function given(files: Files, uid: PodUid, maxPods = 3, idsPerPod = 65_536): unknown {
  let result: unknown;
  userNamespaces({ files, paths, maxPods, idsPerPod })(uid).subscribe({
    next: (namespace) => {
      result = hostIdOf(namespace);
    },
    error: (error: unknown) => {
      result = error;
    },
  });
  return result;
}

describe('userNamespaces', () => {
  it('gives a pod ids that no other has, and writes them into its folder', () => {
    const { files, texts } = diskOf({ a: undefined, b: 65_536, c: undefined });
    expect(given(files, A)).toBe(131_072);
    expect(parseUserNamespace(texts.get('/root/pods/a/userns') ?? '')).toEqual({ start: 131_072, length: 65_536 });
  });

  it('leaves a pod the ids that its folder tells', () => {
    const { files } = diskOf({ a: 196_608, b: 65_536 });
    expect(given(files, A)).toBe(196_608);
  });

  it('takes the ids of pods from those that /etc/subuid and /etc/subgid set aside for the kubelet', () => {
    const line = 'kubelet:1048576:131072\n';
    const { files } = diskOf({ a: undefined }, { '/etc/subuid': line, '/etc/subgid': line });
    expect(given(files, A)).toBe(1_048_576);
  });

  it('takes no ids of pods that are set aside for users and not for groups', () => {
    const { files } = diskOf({ a: undefined }, { '/etc/subuid': 'kubelet:1048576:131072\n' });
    expect(given(files, A)).toBe(65_536);
  });

  it('gives each pod as many ids as idsPerPod says, whatever those before it got', () => {
    const { files, texts } = diskOf({ a: undefined, b: 65_536 });
    expect(given(files, A, 3, 131_072)).toBe(196_608);
    expect(parseUserNamespace(texts.get('/root/pods/a/userns') ?? '')?.length).toBe(131_072);
  });

  it('fails a pod when all ids are taken', () => {
    const { files } = diskOf({ a: undefined, b: 65_536 });
    expect(given(files, A, 1)).toEqual(new Error('could not find an empty slot to allocate a user namespace'));
  });

  it(
    'gives two pods that begin together different ones, as its diagram shows',
    marbles(({ cold, expectObservable }) => {
      const files = fakeFiles([], {
        readFile: () => cold<string | undefined>('-(r|)', { r: undefined }),
        list: () => cold<readonly string[]>('--(l|)', { l: [] }),
        writeFile: () => cold<undefined>('--(w|)', { w: undefined }),
      });
      const give = userNamespaces({ files, paths, maxPods: 3, idsPerPod: 65_536 });
      const a$ = give(A).pipe(map(hostIdOf));
      const b$ = give(B).pipe(map(hostIdOf));
      expectObservable(a$).toBe('-----(n|)', { n: 65_536 });
      expectObservable(b$, '    -^').toBe('------(m|)', { m: 131_072 });
    }),
  );

  it(
    'forgets what it promised to a pod that nobody waits for any more',
    marbles(({ cold, expectObservable }) => {
      const files = fakeFiles([], { writeFile: () => cold<undefined>('---(w|)', { w: undefined }) });
      const give = userNamespaces({ files, paths, maxPods: 3, idsPerPod: 65_536 });
      expectObservable(give(A), '                       ^-!').toBe('---');
      expectObservable(give(B).pipe(map(hostIdOf)), '---^').toBe('------(n|)', { n: 65_536 });
    }),
  );
});
