import { request } from 'node:http';
import type { Problem } from '../../../src/model/desired.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';

export interface ServedPod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly status: PodStatus;
}

/** What the agent serves at `/pods`. */
export async function servedPods(socket: string): Promise<readonly ServedPod[]> {
  const { items } = (await getJson(socket, '/pods')) as { readonly items: readonly ServedPod[] };
  return items;
}

/** What the agent serves at `/rxlet/problems`. */
export async function servedProblems(socket: string): Promise<readonly Problem[]> {
  return (await getJson(socket, '/rxlet/problems')) as readonly Problem[];
}

/** What the agent serves at `/rxlet/view`. */
export async function servedView(socket: string): Promise<NodeView> {
  return (await getJson(socket, '/rxlet/view')) as NodeView;
}

async function getJson(socket: string, path: string): Promise<unknown> {
  return JSON.parse(await ask(socket, path));
}

/** The body that the agent answers with, as it came. */
export function ask(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, timeout: 30_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(body);
        else reject(new Error(`GET ${path}: ${response.statusCode ?? 0} ${body}`));
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`GET ${path}: no answer`)));
    sent.on('error', reject);
    sent.end();
  });
}
