import { asyncScheduler } from 'rxjs';
import type { HostFiles } from './host-files.ts';
import type { SimulatedContainer, SimulatedSandbox } from './node-objects.ts';
import type { Print } from './process-script.ts';

export interface ContainerLogs {
  /** Makes the file, as the runtime does when a container starts and when its log was moved away. */
  readonly open: (container: SimulatedContainer, sandbox: SimulatedSandbox | undefined) => void;
  readonly print: (container: SimulatedContainer, sandbox: SimulatedSandbox | undefined, print: Print) => void;
}

/** Logs in the CRI form (`time stream tag text`), where a container has one. */
export function containerLogs(files: HostFiles): ContainerLogs {
  return {
    open: (container, sandbox) => {
      const path = logPathOf(container, sandbox);
      if (path !== undefined) files.append(path, '');
    },
    print: (container, sandbox, { text, stream = 'stdout' }) => {
      const path = logPathOf(container, sandbox);
      if (path === undefined) return;
      const time = new Date(asyncScheduler.now()).toISOString().replace('Z', '000000Z');
      const lines = text.replace(/\n$/, '').split('\n');
      files.append(path, lines.map((line) => `${time} ${stream} F ${line}\n`).join(''));
    },
  };
}

/** Absent where the container, or its pod, has no logs. */
export function logPathOf(
  { config: { logPath = '' } }: SimulatedContainer,
  sandbox: SimulatedSandbox | undefined,
): string | undefined {
  return logPath === '' ? undefined : `${sandbox?.config.logDirectory ?? ''}/${logPath}`;
}
