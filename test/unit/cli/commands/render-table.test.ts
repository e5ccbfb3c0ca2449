import { describe, expect, it } from 'vitest';
import { renderTable } from '../../../../src/cli/commands/render-table.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import type { PodStatus } from '../../../../src/model/pod.ts';
import type { NodeView, PodView } from '../../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from './views.ts';

const PAPER: Terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
const NOON = Date.UTC(2026, 0, 31, 12);

function secondsBefore(seconds: number): string {
  return new Date(NOON - seconds * 1_000).toISOString();
}

function table(pods: readonly PodView[], rest: Partial<NodeView> = {}): string {
  return `\n${renderTable({ ...NODE, ...rest, pods }, NOON, PAPER, false).join('\n')}\n`;
}

/** The state that is shown of a pod's only container. */
function stateOf(view: PodView): string {
  return renderTable({ ...NODE, pods: [view] }, NOON, PAPER, false)[1]?.split(/ {2,}/)[2] ?? '';
}

function one(status: PodStatus, phase: PodView['phase'] = 'syncing'): PodView {
  return podView('default/web', ['app'], { status, phase });
}

describe('renderTable', () => {
  it('shows a line per container, the pod once, sorted by namespace and name', () => {
    const web = podView('default/web', ['server', 'helper'], {
      status: {
        startTime: secondsBefore(187),
        podIP: '10.88.0.7',
        containerStatuses: [
          containerStatus(
            'helper',
            { waiting: { reason: 'CrashLoopBackOff' } },
            {
              restartCount: 4,
              lastState: { terminated: { exitCode: 1, finishedAt: secondsBefore(12) } },
            },
          ),
          containerStatus('server', { running: { startedAt: secondsBefore(100) } }),
        ],
      },
      note: 'back-off 40s restarting failed container helper',
    });
    const dns = podView('kube-system/dns', ['dns'], { phase: 'waiting' });
    const db = podView('default/db', ['db'], {
      status: {
        startTime: secondsBefore(7_200),
        podIP: '10.88.0.6',
        containerStatuses: [containerStatus('db', { running: {} }, { restartCount: 1 })],
      },
    });
    expect(table([web, dns, db])).toBe(`
POD              CONTAINER  STATE             RESTARTS     AGE   IP
db               db         Running           1            120m  10.88.0.6
web              server     Running           0            3m7s  10.88.0.7
                 helper     CrashLoopBackOff  4 (12s ago)
  back-off 40s restarting failed container helper
kube-system/dns  dns        Waiting           0            -     -
`);
  });

  it('tells below a container what it waits for, but not what its crash loop is', () => {
    const waiting = (reason: string, message: string): PodView =>
      one({ containerStatuses: [containerStatus('app', { waiting: { reason, message } })] });
    expect(table([waiting('CreateContainerConfigError', 'secret "login" not found')])).toBe(`
POD  CONTAINER  STATE                       RESTARTS  AGE  IP
web  app        CreateContainerConfigError  0         -    -
  secret "login" not found
`);
    expect(table([waiting('CrashLoopBackOff', 'back-off 10s restarting failed container=app')])).toBe(`
POD  CONTAINER  STATE             RESTARTS  AGE  IP
web  app        CrashLoopBackOff  0         -    -
`);
  });

  it('says what to do when there is no pod', () => {
    expect(table([])).toBe('\nNo pods. Put a manifest into the folder that rxlet watches.\n');
  });

  it('shows what is wrong before everything else', () => {
    const problems = [
      {
        source: 'file',
        origin: '/etc/rxlet/manifests/web.yaml',
        position: { line: 7, column: 5 },
        field: 'spec.containers[0].imagee',
        message: 'unknown field, did you mean image?',
      },
    ] as const;
    const runtime = { ready: false, message: 'no answer on unix:///run/x.sock', name: '', version: '' };
    expect(table([], { problems, runtime, plegHealthy: false, plegMessage: 'ListContainers is not answered' })).toBe(`
The container runtime is not ready: no answer on unix:///run/x.sock
What follows may be old: ListContainers is not answered
/etc/rxlet/manifests/web.yaml:7:5: spec.containers[0].imagee: unknown field, did
  you mean image?

No pods. Put a manifest into the folder that rxlet watches.
`);
  });

  it.each<[string, PodView]>([
    ['Running', one({ containerStatuses: [containerStatus('app', { running: {} })] })],
    ['NotReady', one({ containerStatuses: [containerStatus('app', { running: {} }, { ready: false })] })],
    ['Terminating', one({ containerStatuses: [containerStatus('app', { running: {} })] }, 'terminating')],
    ['Completed', one({ containerStatuses: [containerStatus('app', { terminated: { exitCode: 0 } })] })],
    ['Error (3)', one({ containerStatuses: [containerStatus('app', { terminated: { exitCode: 3 } })] })],
    [
      'OOMKilled (137)',
      one({ containerStatuses: [containerStatus('app', { terminated: { exitCode: 137, reason: 'OOMKilled' } })] }),
    ],
    [
      'Completed',
      one(
        { containerStatuses: [containerStatus('app', { terminated: { exitCode: 0, reason: 'Completed' } })] },
        'terminating',
      ),
    ],
    ['ErrImagePull', one({ containerStatuses: [containerStatus('app', { waiting: { reason: 'ErrImagePull' } })] })],
    [
      'ContainerCreating',
      one({ containerStatuses: [containerStatus('app', { waiting: { reason: 'ContainerCreating' } })] }),
    ],
    ['OutOfpods', one({ phase: 'Failed', reason: 'OutOfpods' })],
    ['Pending', one({})],
    ['Waiting', one({}, 'waiting')],
  ])('shows %s', (state, view) => {
    expect(stateOf(view)).toBe(state);
  });

  it('shows init containers until they are done, and sidecars for good', () => {
    const spec = {
      initContainers: [{ name: 'setup' }, { name: 'migrate' }, { name: 'proxy', restartPolicy: 'Always' }],
    };
    const initContainerStatuses = [
      containerStatus('setup', { terminated: { exitCode: 0 } }),
      containerStatus('migrate', { running: {} }),
      containerStatus('proxy', { terminated: { exitCode: 0 } }),
    ];
    const lines = table([podView('default/web', ['app'], { spec, status: { initContainerStatuses } })]);
    expect(lines).not.toContain('setup');
    expect(lines).toMatch(/web +migrate +Running/);
    expect(lines).toMatch(/\n +proxy +Completed/);
    expect(lines).toMatch(/\n +app +Pending/);
  });

  it('cuts long names so that a line fits', () => {
    const name = 'a-very-long-name-of-a-pod-that-never-seems-to-end-and-goes-on';
    const view = podView(`production/${name}`, ['a-container-with-a-long-name-too'], {
      status: {
        podIP: '192.168.100.200',
        containerStatuses: [
          containerStatus('a-container-with-a-long-name-too', { waiting: { reason: 'CreateContainerConfigError' } }),
        ],
      },
    });
    const lines = renderTable({ ...NODE, pods: [view] }, NOON, PAPER, false);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines[1]).toContain('production/…');
    expect(lines[1]).toContain('192.168.100.200');
  });

  it('cuts nothing in the wide table and adds the image', () => {
    const name = 'a-very-long-name-of-a-pod-that-never-seems-to-end-and-goes-on';
    const lines = renderTable({ ...NODE, pods: [podView(`production/${name}`, ['app'])] }, NOON, PAPER, true);
    expect(lines[0]).toMatch(/IP +IMAGE$/);
    expect(lines[1]).toContain(`production/${name}`);
    expect(lines[1]).toMatch(/test\/app:1$/);
  });

  it('colours states on a terminal, and nothing elsewhere', () => {
    const pods = [one({ containerStatuses: [containerStatus('app', { running: {} })] })];
    const colourful = renderTable({ ...NODE, pods }, NOON, { ...PAPER, colour: true }, false).join('\n');
    const escape = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
    expect(colourful).toContain('\u001b[32mRunning');
    expect(colourful.replace(escape, '')).toBe(renderTable({ ...NODE, pods }, NOON, PAPER, false).join('\n'));
  });
});
