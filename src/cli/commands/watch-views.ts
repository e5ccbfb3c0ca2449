import type { Observable } from 'rxjs';
import type { NodeView } from '../../streams/view/node-view.ts';
import { followAgent } from './ask-agent.ts';

/**
 * Asks the agent behind a socket for its views: emits the newest at once, then each change. Never completes; errors
 * with a {@link CliError} when there is no agent, or when it goes.
 */
export function watchViews(socket: string): Observable<NodeView> {
  return followAgent(socket, '/rxlet/watch');
}
