import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import type { Volume } from '../../../../src/model/volumes/volume-dir.ts';
import { setUpPayload } from '../../../../src/runtime/volumes/set-up-payload.ts';
import type { GroupOwnership } from '../../../../src/streams/ports/volume-files.ts';
import { aConfigMap, aSecret, aSet } from '../../../unit/model/objects/a-set.ts';
import { context, fakeFiles, fakeMounts, fakeVolumeFiles, podWith } from '../../fakes.ts';

const OBJECTS = aSet(aConfigMap('c', { k: 'text' }), aSecret('s', { k: 'hidden' }));
const POD = '/root/pods/u-1';

interface Written {
  readonly dir: string;
  readonly files: Readonly<Record<string, string>>;
  readonly ownership: GroupOwnership | undefined;
}

function setUp(volume: Volume, spec: Partial<Pod['spec']> = {}) {
  const log: string[] = [];
  const written: Written[] = [];
  let error: unknown;
  const ground = context({
    files: fakeFiles(log),
    mounts: fakeMounts(log),
    volumeFiles: fakeVolumeFiles(log, {
      writePayload: (dir, payload, ownership) => {
        const files = [...payload].map(([path, { content }]) => [path, new TextDecoder().decode(bytesOf(content))]);
        written.push({ dir, files: Object.fromEntries(files) as Written['files'], ownership });
        return of(true);
      },
    }),
    objects$: of(OBJECTS),
  });
  setUpPayload(podWith([volume], spec), volume, new Map(), ground).subscribe({
    error: (failure: unknown) => {
      error = failure instanceof Error ? failure.message : failure;
    },
  });
  return { log, written, error, memory: log.filter((call) => call.startsWith('mountMemory')) };
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

const items = [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }];

describe('setUpPayload', () => {
  it.each<{ rule: string; volume: Volume; at: string; inMemory: boolean; files: Written['files'] }>([
    {
      rule: 'a config map is a folder on the disk',
      volume: { name: 'v', configMap: { name: 'c' } },
      at: `${POD}/volumes/kubernetes.io~configmap/v`,
      inMemory: false,
      files: { k: 'text' },
    },
    {
      rule: 'a secret is in memory',
      volume: { name: 'v', secret: { secretName: 's' } },
      at: `${POD}/volumes/kubernetes.io~secret/v`,
      inMemory: true,
      files: { k: 'hidden' },
    },
    {
      rule: 'a downwardAPI volume is in memory',
      volume: { name: 'v', downwardAPI: { items } },
      at: `${POD}/volumes/kubernetes.io~downward-api/v`,
      inMemory: true,
      files: { name: 'web' },
    },
    {
      rule: 'a projected volume is in memory',
      volume: { name: 'v', projected: { sources: [{ downwardAPI: { items } }, { configMap: { name: 'c' } }] } },
      at: `${POD}/volumes/kubernetes.io~projected/v`,
      inMemory: true,
      files: { name: 'web', k: 'text' },
    },
  ])('$rule', ({ volume, at, inMemory, files }) => {
    const { memory, written, log } = setUp(volume);
    expect(memory).toEqual(inMemory ? [`mountMemory ${at}`] : []);
    expect(log).toContain(`makeDir ${at}`);
    expect(written).toEqual([{ dir: at, files, ownership: undefined }]);
  });

  it('the fsGroup of the pod may read files of the agent and not write them', () => {
    const { written } = setUp({ name: 'v', secret: { secretName: 's' } }, { securityContext: { fsGroup: 7 } });
    expect(written[0]?.ownership).toEqual({ group: 7, readOnly: true, onlyOnMismatch: false });
  });

  it('a volume of an object that is missing fails before anything is made of it', () => {
    const { error, log } = setUp({ name: 'v', secret: { secretName: 'nobody' } });
    expect(error).toBe('secret "nobody" not found');
    expect(log).toEqual([]);
  });
});
