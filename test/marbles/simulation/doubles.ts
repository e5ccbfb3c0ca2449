import type { World } from '../../../src/simulation/simulated-node.ts';

/**
 * Every moment at which two processes of one container, or two sandboxes of one pod, ran side by side:
 * what must never be, whatever the agent goes through. One line each; none when all was well.
 */
export function doubles({ history }: Pick<World, 'history'>): readonly string[] {
  const running = new Map<string, Set<string>>();
  return history.flatMap(({ at, kind, sandbox, container }) => {
    const { uid = '', name: pod = '' } = sandbox.config.metadata ?? {};
    const name = container
      ? `the container ${container.config.metadata?.name ?? ''} of ${pod}`
      : `the sandbox of ${pod}`;
    const key = `${uid} ${name}`;
    const ids = running.get(key) ?? new Set();
    running.set(key, ids);

    const id = container?.id ?? sandbox.id;
    if (kind === 'started') ids.add(id);
    else ids.delete(id);
    return kind === 'started' && ids.size > 1 ? [`${String(ids.size)} times ${name} at ${String(at)} ms`] : [];
  });
}
