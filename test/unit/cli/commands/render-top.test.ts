import { describe, expect, it } from 'vitest';
import { renderTop } from '../../../../src/cli/commands/render-top.ts';

const PAPER = { interactive: false, colour: false, columns: 80, rows: 24 };

function usage(nanoCores: number, bytes: number): object {
  return { cpu: { usageNanoCores: nanoCores }, memory: { workingSetBytes: bytes } };
}

describe('renderTop', () => {
  it('shows the node, then the hungriest pod first with its containers', () => {
    const pods = [
      {
        podRef: { name: 'web-n1', namespace: 'default' },
        ...usage(2e6, 4 << 20),
        containers: [{ name: 'httpd', ...usage(2e6, 3 << 20) }],
      },
      { podRef: { name: 'db-n1', namespace: 'data' }, ...usage(150e6, 64 << 20), containers: [{ name: 'postgres' }] },
    ];
    expect(renderTop({ node: { nodeName: 'n1', ...usage(900e6, 512 << 20) }, pods }, PAPER)).toEqual([
      'POD         CONTAINER      CPU    MEMORY',
      'n1                        900m     512Mi',
      'data/db-n1                150m      64Mi',
      '            postgres         -         -',
      'web-n1                      2m       4Mi',
      '            httpd           2m       3Mi',
    ]);
  });

  it('keeps within the columns of the terminal', () => {
    const podRef = { name: 'a-pod-with-a-name-that-goes-on-and-on-and-on-and-on', namespace: 'a-long-namespace' };
    const containers = [{ name: 'a-container-with-quite-a-long-name-of-its-own' }];
    const lines = renderTop({ pods: [{ podRef, containers }] }, PAPER);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines[1]).toContain('…');
  });

  it('says that there is nothing where no pod is', () => {
    expect(renderTop({ pods: [] }, PAPER)).toEqual(['No pods.']);
  });
});
