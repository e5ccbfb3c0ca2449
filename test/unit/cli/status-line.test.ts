import { describe, expect, it } from 'vitest';
import { statusLine } from '../../../src/cli/status-line.ts';
import type { PodView } from '../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from './commands/views.ts';

const running = podView('default/web', ['app'], { status: { phase: 'Running' } });

function failed(name: string): PodView {
  return podView(`default/${name}`, ['app'], { status: { phase: 'Failed' } });
}

describe('statusLine', () => {
  it('counts the pods that run', () => {
    expect(
      statusLine({ ...NODE, pods: [running, podView('default/new', ['app'], { status: { phase: 'Pending' } })] }),
    ).toBe('1 of 2 pods running');
  });

  it('user-asks 82: names the pods that have failed or crash, and counts those that are not ready', () => {
    const unready = podView('default/db', ['app'], {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
    });
    const crashing = podView('default/app', ['app'], {
      status: {
        phase: 'Running',
        containerStatuses: [containerStatus('app', { waiting: { reason: 'CrashLoopBackOff' } })],
      },
    });
    const refused = podView('default/big', ['app'], { status: { phase: 'Failed', reason: 'NodePorts' } });
    expect(statusLine({ ...NODE, pods: [running, unready, crashing, refused] })).toBe(
      '3 of 4 pods running, 1 not ready, in trouble: app (CrashLoopBackOff), big (NodePorts)',
    );
  });

  it('takes what is on its way for no trouble', () => {
    const creating = podView('default/app', ['app'], {
      status: { containerStatuses: [containerStatus('app', { waiting: { reason: 'ContainerCreating' } })] },
    });
    expect(statusLine({ ...NODE, pods: [creating] })).toBe('0 of 1 pods running');
  });

  it('names three of many, and tells what else is wrong', () => {
    const problems = [{ source: 'file', origin: '/m/a.yaml', message: 'no' }] as const;
    const runtime = { ...NODE.runtime, ready: false };
    expect(statusLine({ ...NODE, problems, runtime, pods: ['a', 'b', 'c', 'd', 'e'].map(failed) })).toBe(
      '0 of 5 pods running, in trouble: a (Failed), b (Failed), c (Failed), 2 more, 1 problem in manifests, the container runtime is not ready',
    );
  });
});
