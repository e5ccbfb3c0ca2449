import { concatMap, from, map, type Observable } from 'rxjs';
import { assertNever } from '../../model/errors.ts';
import type { PodReply, PodVerb } from '../../model/pod-command.ts';
import type { NodeView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import type { CommandPodsOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { askAgent, tellAgent } from './ask-agent.ts';
import { findPod, shortName } from './find-pod.ts';

/**
 * `rxlet stop`, `start` and `restart`: emits a sentence for each pod as soon as the agent has it in mind, then
 * completes. Errors with a {@link CliError} where no agent answers, or one of the names is no pod: then nothing is done.
 */
export function commandPods({ verb, names, socket, namespace }: CommandPodsOptions): Observable<string> {
  return askAgent<NodeView>(socket, '/rxlet/view').pipe(
    map((view) => names.map((name) => findPod(view, { name, namespace })[0].pod)),
    concatMap((pods) => from(pods)),
    concatMap((pod) => {
      const { namespace: its, name } = pod.metadata;
      const path = `/rxlet/pods/${encodeURIComponent(its)}/${encodeURIComponent(name)}/${verb}`;
      return tellAgent(socket, 'POST', path).pipe(
        map(({ status, body }) => told(verb, `${its}/${name}`, shortName(pod), replyIn(status, body))),
      );
    }),
  );
}

function replyIn(status: number, body: string): PodReply {
  try {
    return JSON.parse(body) as PodReply;
  } catch {
    return { kind: 'failed', message: `the agent answered ${status}: ${body.trim()}` };
  }
}

function told(verb: PodVerb, pod: string, short: string, reply: PodReply): string {
  switch (reply.kind) {
    case 'done':
      return `${pod} ${DONE[verb].replace('NAME', short)}\n`;
    case 'nothingToDo':
      return `${pod} ${ALREADY[verb]}\n`;
    case 'unknown':
      throw new CliError(EXIT_CODES.usage, `no source wants a pod ${pod} any more`, 'rxlet ps lists all pods.');
    case 'failed':
      throw new CliError(EXIT_CODES.cannotStart, `${pod} was left as it is: ${reply.message}`);
    default:
      return assertNever(reply);
  }
}

const DONE: Readonly<Record<PodVerb, string>> = {
  stop: 'is being stopped; rxlet start NAME brings it back, and so does a change of its manifest',
  start: 'is being started',
  restart: 'is being restarted',
};

const ALREADY: Readonly<Record<PodVerb, string>> = {
  stop: 'is stopped already',
  start: 'is not stopped; rxlet restart begins it anew',
  restart: 'is being restarted',
};
