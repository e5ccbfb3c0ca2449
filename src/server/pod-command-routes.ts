import { map, mergeMap, type Observable } from 'rxjs';
import { POD_VERBS, type PodCommand, type PodReply } from '../model/pod-command.ts';
import type { Route } from './route.ts';
import { send, type Answer } from './send.ts';

/** Does what is asked of a pod; emits once what came of it, and completes. */
export type CommandPod = (command: PodCommand) => Observable<PodReply>;

/** `POST /rxlet/pods/NAMESPACE/NAME/stop`, `start` and `restart`: what root may ask of a pod by hand. */
export function podCommandRoutes(commandPod: CommandPod): readonly Route[] {
  return POD_VERBS.map((verb): Route => ({
    path: `/rxlet/pods/:namespace/:name/${verb}`,
    methods: ['POST'],
    access: 'local',
    answer: ({ response, params: { namespace = '', name = '' } }) =>
      commandPod({ verb, namespace, name }).pipe(
        map((reply): Answer => ({ status: STATUS[reply.kind], json: reply })),
        mergeMap((answer) => send(response, answer)),
      ),
  }));
}

const STATUS: Readonly<Record<PodReply['kind'], number>> = { done: 200, nothingToDo: 200, unknown: 404, failed: 500 };
