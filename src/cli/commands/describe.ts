import { asyncScheduler, forkJoin, map, type Observable } from 'rxjs';
import type { PodEvent } from '../../streams/events/event-log.ts';
import type { NodeView, PodView } from '../../streams/view/node-view.ts';
import type { DescribeOptions } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { askAgent } from './ask-agent.ts';
import { findPod } from './find-pod.ts';
import { renderPod } from './render-pod.ts';

/**
 * `rxlet describe`: emits text for standard output, then completes. Errors with a {@link CliError} where no agent
 * answers, or no such pod is known.
 */
export function describe({ socket, names, namespace }: DescribeOptions, terminal: () => Terminal): Observable<string> {
  return forkJoin([
    askAgent<NodeView>(socket, '/rxlet/view'),
    askAgent<readonly PodEvent[]>(socket, '/rxlet/events'),
  ]).pipe(
    map(([view, events]) => {
      const pods =
        names.length > 0 ? names.flatMap((name) => findPod(view, { name, namespace })) : all(view, namespace);
      const texts = pods.map((one) => {
        const { uid, name, namespace: its } = one.pod.metadata;
        const picture = {
          view: one,
          events: events.filter(({ of }) => of.uid === uid),
          problems: view.problems.filter(({ pod }) => pod === `${its}/${name}`),
        };
        return `${renderPod(picture, asyncScheduler.now(), terminal()).join('\n')}\n`;
      });
      return texts.length > 0 ? texts.join('\n\n') : 'No pods.\n';
    }),
  );
}

function all({ pods }: NodeView, namespace: string | undefined): readonly PodView[] {
  return pods.filter(({ pod }) => namespace === undefined || pod.metadata.namespace === namespace);
}
