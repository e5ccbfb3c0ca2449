import { describe, expect, it } from 'vitest';
import { applyDesired, EMPTY_LEDGER } from '../../../src/sources/apply-desired.ts';
import { decodeManifest } from '../../../src/sources/manifest/decode-manifest.ts';

const WEB = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: main
    image: busybox:1
`;
const FIXED = WEB.replace('{name: web}', '{name: web, uid: mine}');

/** What a manifest is found to have changed when it is read for the second time, in words like `remove web-n1`. */
function changes(before: string, after: string, file = '/m/web.yaml', node = 'n1'): readonly string[] {
  const read = (text: string, origin: string, nodeName: string) => {
    const { pods, problems } = decodeManifest(text, { origin, source: 'file', nodeName });
    return { source: 'file' as const, pods, problems };
  };
  const first = applyDesired(EMPTY_LEDGER, read(before, '/m/web.yaml', 'n1'), 0);
  return applyDesired(first, read(after, file, node), 1).changes.map(({ op, pod }) => `${op} ${pod.metadata.name}`);
}

describe('an edit of a manifest', () => {
  const ANOTHER_POD = ['remove web-n1', 'add web-n1'];

  it.each<[rule: string, told: readonly string[], expected: readonly string[]]>([
    [
      'makes another pod where the manifest gives no UID, be it only of a label',
      changes(WEB, WEB.replace('{name: web}', '{name: web, labels: {a: b}}')),
      ANOTHER_POD,
    ],
    ['makes another pod for another image', changes(WEB, WEB.replace('busybox:1', 'busybox:2')), ANOTHER_POD],
    [
      'changes the same pod where the manifest gives a UID',
      changes(FIXED, FIXED.replace('busybox:1', 'busybox:2')),
      ['update web-n1'],
    ],
    [
      'changes nothing by a comment or by the order of keys',
      changes(
        WEB,
        '# mine\nspec: {containers: [{image: "busybox:1", name: main}]}\nkind: Pod\nmetadata: {name: web}\napiVersion: v1\n',
      ),
      [],
    ],
    [
      'changes nothing by JSON in the place of YAML',
      changes(
        WEB,
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"main","image":"busybox:1"}]}}',
      ),
      [],
    ],
    ['makes another pod of a file that is renamed', changes(WEB, WEB, '/m/other.yaml'), ANOTHER_POD],
    [
      'changes nothing by a new name of the file where the manifest gives a UID',
      changes(FIXED, FIXED, '/m/other.yaml'),
      [],
    ],
    ['makes another pod of another node', changes(WEB, WEB, '/m/web.yaml', 'n2'), ['remove web-n1', 'add web-n2']],
    ['ends the pod of a manifest that is emptied of it', changes(WEB, '# nothing\n'), ['remove web-n1']],
  ])('%s', (_rule, told, expected) => {
    expect(told).toEqual(expected);
  });
});
