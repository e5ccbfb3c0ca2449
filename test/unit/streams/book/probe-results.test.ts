import { describe, expect, it } from 'vitest';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { emptyBook, type BookEvent, type Page } from '../../../../src/streams/book/pod-book.ts';
import { turnPage } from '../../../../src/streams/book/turn-page.ts';
import type { ProbeFindings } from '../../../../src/streams/workers/pod-work.ts';
import { pod } from '../../../marbles/fakes.ts';

const WELL: ProbeFindings = {
  containerId: 'main-0',
  liveness: 'success',
  startup: 'success',
  readiness: 'success',
  started: true,
  ready: true,
};
const uid = 'u-1' as PodUid;
const web: Pod = pod();
const found = (more: Partial<ProbeFindings> = {}): BookEvent => ({
  kind: 'probe',
  uid,
  container: 'main',
  findings: { ...WELL, ...more },
});

/** The work that the last of these events brings to a pod that is up and well. */
function workAfter(...events: readonly BookEvent[]): readonly string[] {
  const book = emptyBook({ runtimeName: 'containerd', hostIps: [], update: 'immediate', statuses: new Map() });
  const begin: readonly BookEvent[] = [
    { kind: 'snapshot', snapshot: { revision: 1, pods: new Map() } },
    { kind: 'changes', changes: [{ op: 'add', source: 'file', pod: web }] },
    found(),
  ];
  let page: Page = { book, work: [], notes: [] };
  for (const event of [...begin, ...events]) page = turnPage(page, event, 0);
  return page.work.map(({ kind }) => kind);
}

describe('a result of a probe', () => {
  it.each<{ rule: string; events: readonly BookEvent[]; work: readonly string[] }>([
    {
      rule: 'a liveness probe that fails has its pod synced at once',
      events: [found({ liveness: 'failure' })],
      work: ['sync'],
    },
    {
      rule: 'a startup probe that fails has its pod synced at once',
      events: [found({ startup: 'failure', started: false, ready: false })],
      work: ['sync'],
    },
    {
      rule: 'a container that has started has its pod synced at once',
      events: [found({ startup: 'unknown', started: false, ready: false }), found()],
      work: ['sync'],
    },
    {
      rule: 'a readiness probe changes the status only',
      events: [found({ readiness: 'failure', ready: false })],
      work: [],
    },
    { rule: 'the same result again brings no work', events: [found()], work: [] },
    {
      rule: 'a pod that is being ended is not synced for its probes',
      events: [
        { kind: 'changes', changes: [{ op: 'remove', source: 'file', pod: web }] },
        found({ liveness: 'failure' }),
      ],
      work: [],
    },
  ])('$rule', ({ events, work }) => {
    expect(workAfter(...events)).toEqual(work);
  });
});
