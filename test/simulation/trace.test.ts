import { describe, expect, it } from 'vitest';
import type { TraceEvent } from '../../src/streams/trace/trace-event.ts';
import { folder, live, pod } from './harness.ts';

/** What a pod's life is made of, in few words each; what only looks at it is left out. */
function story(events: readonly TraceEvent[], name: string): readonly string[] {
  return events.flatMap((event) => {
    if (!('pod' in event) || event.pod.name !== name) return [];
    switch (event.kind) {
      case 'change':
        return [event.op];
      case 'phase':
        return [`${event.from} -> ${event.to}`];
      case 'begin':
        return [`begin ${event.work}`];
      case 'plan':
        return [`plan ${event.steps.join(', ')}`];
      case 'call':
        return LOOKS.test(event.call) ? [] : [`${event.call} ${event.container ?? ''}`.trim()];
      case 'note':
        return [event.reason];
      case 'outcome':
        return [`${event.work} ${event.outcome}`];
      case 'hint':
      case 'sighting':
      case 'probe':
      case 'finding':
      case 'wake':
      case 'work':
        return [];
    }
  });
}

const LOOKS = /^(?:list|.*_status$)/;

describe('what an agent traces', () => {
  it('tells the whole life of a pod: wish, decision, plan, calls, outcome, end', () => {
    live(
      {},
      ({ agent, at, traced }) => {
        agent(folder([0, [pod('web', { grace: 1 })]], [20_000, []]), 0, 60_000);
        at(59_000, () => {
          expect(story(traced(), 'web')).toEqual([
            'add',
            'new -> waiting',
            'waiting -> syncing',
            'begin sync',
            'plan runSandbox, startContainer main',
            'run_podsandbox',
            'MissingClusterDNS',
            'Pulled',
            'create_container main',
            'Created',
            'start_container main',
            'Started',
            'sync synced',
            'remove',
            'syncing -> terminating',
            'begin terminate',
            'Killing',
            'stop_container main',
            'terminate ended',
            'terminating -> ended',
            'begin cleanUp',
            'stop_podsandbox',
            'remove_container main',
            'remove_podsandbox',
            'cleanUp cleanedUp',
            'ended -> gone',
          ]);
        });
      },
      () => undefined,
    );
  });

  it('numbers its events without holes, and their times never go back', () => {
    live(
      {},
      ({ agent, at, traced }) => {
        agent(folder([0, [pod('web'), pod('db')]]), 0, 30_000);
        at(29_000, () => {
          const events = traced();
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
          expect(events.map((event) => event.at)).toEqual(events.map((event) => event.at).toSorted((a, b) => a - b));
        });
      },
      () => undefined,
    );
  });

  it('tells a hint once, the look that follows and what it saw', () => {
    live(
      {},
      ({ agent, at, traced, world }) => {
        agent(folder([0, [pod('web')]]), 0, 30_000);
        let before = 0;
        at(20_000, () => {
          before = traced().length;
          world.kill(world.running()[0]?.id ?? '');
        });
        at(20_900, () => {
          const since = traced().slice(before);
          expect(since.filter((event) => event.kind === 'hint' && event.at === 20_000)).toHaveLength(1);
          const seen = since.filter(({ kind }) => kind === 'hint' || kind === 'sighting');
          expect(seen[0]).toMatchObject({ kind: 'hint', pod: { name: 'web' } });
          expect(seen[1]).toMatchObject({ kind: 'sighting', containers: ['main exited'] });
        });
      },
      () => undefined,
    );
  });

  it('tells which call failed and how, and when the work is tried again', () => {
    live(
      { faults: ({ name }) => (name === 'RunPodSandbox' ? { kind: 'fail' } : undefined) },
      ({ agent, at, traced }) => {
        agent(folder([0, [pod('web')]]), 0, 30_000);
        at(29_000, () => {
          const call = traced().find((event) => event.kind === 'call' && event.call === 'run_podsandbox');
          expect(call).toMatchObject({ outcome: 'failed', pod: { name: 'web', namespace: 'default' } });
          const outcome = traced().find((event) => event.kind === 'outcome');
          expect(outcome).toMatchObject({ work: 'sync', outcome: 'failed', next: expect.any(Number) as number });
        });
      },
      () => undefined,
    );
  });

  it('tells the work that a stronger one has cut short', () => {
    live(
      { latencies: { RunPodSandbox: [5_000, 5_000] } },
      ({ agent, at, traced }) => {
        agent(folder([0, [pod('web')]], [2_000, []]), 0, 30_000);
        at(29_000, () => {
          expect(story(traced(), 'web')).toContain('sync cut');
          expect(traced()).toContainEqual(expect.objectContaining({ call: 'run_podsandbox', outcome: 'cut' }));
        });
      },
      () => undefined,
    );
  });

  it('never holds a variable of a container', () => {
    live(
      {},
      ({ agent, at, traced }) => {
        agent(folder([0, [pod('web', { value: 'hunter2', grace: 1 })]], [20_000, []]), 0, 60_000);
        at(59_000, () => {
          expect(traced().length).toBeGreaterThan(50);
          expect(JSON.stringify(traced())).not.toContain('hunter2');
        });
      },
      () => undefined,
    );
  });
});
