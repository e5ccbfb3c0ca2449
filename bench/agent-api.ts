import { request, type RequestOptions } from 'node:http';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentKind, AgentProcess } from './agent-process.ts';

/** What an agent serves over HTTP. */
export interface AgentApi {
  readonly get: (path: string) => Promise<string>;
  /** The sum of all samples of a metric with such labels; undefined where it has none, or no metrics. */
  readonly metric: (path: string, name: string, labels?: string) => Promise<number | undefined>;
}

/** Undefined where the agent serves nothing that the bench could find. */
export function apiOf({ api }: AgentKind, { root }: Pick<AgentProcess, 'root'>): AgentApi | undefined {
  const socketPath = join(root, 'rxlet.sock');
  if (api === undefined && !existsSync(socketPath)) return undefined;

  function get(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options: RequestOptions = { timeout: 30_000, agent: false };
      const sent = api === undefined ? request({ ...options, socketPath, path }) : request(new URL(path, api), options);
      sent.on('response', (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (body += chunk));
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200) resolve(body);
          else reject(new Error(`GET ${path}: ${response.statusCode ?? 0}`));
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`GET ${path}: no answer`)));
      sent.on('error', reject);
      sent.end();
    });
  }

  return {
    get,
    async metric(path, name, labels = '') {
      const text = await get(path).catch(() => '');
      const values = text
        .split('\n')
        .filter((line) => new RegExp(`^${name}[{ ]`).test(line) && line.includes(labels))
        .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
      return values.length === 0 ? undefined : values.reduce((total, each) => total + each, 0);
    },
  };
}
