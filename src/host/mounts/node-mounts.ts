import { catchError, defer, map, tap, throwError, type Observable } from 'rxjs';
import type { Mounts } from '../../streams/ports/mounts.ts';
import { bindInside } from './bind-inside.ts';
import { mountsBelow } from './mount-table.ts';
import { runTool } from './run-tool.ts';

/**
 * The mounts of this machine. `mount` is told not to resolve paths: what it is given has been resolved safely, and
 * doing so once more would follow links that were put there since.
 */
export function nodeMounts(): Mounts {
  let canForbidSwap = true;

  function mount(source: string, target: string, type: string, options: readonly string[]): Observable<undefined> {
    return runTool('mount', [
      '--no-canonicalize',
      ...(type === '' ? [] : ['-t', type]),
      ...(options.length === 0 ? [] : ['-o', options.join(',')]),
      source,
      target,
    ]);
  }

  function mountMemory(target: string, size: number): Observable<undefined> {
    const plain$ = mount('tmpfs', target, 'tmpfs', [`size=${size}`]);
    if (!canForbidSwap) return plain$;
    return mount('tmpfs', target, 'tmpfs', [`size=${size}`, 'noswap']).pipe(
      // Kernels before 6.4 and user namespaces do not know it; an error of another kind comes again.
      catchError((error: unknown) =>
        plain$.pipe(
          tap(() => {
            canForbidSwap = false;
          }),
          catchError(() => throwError(() => error)),
        ),
      ),
    );
  }

  function unmount(target: string): Observable<undefined> {
    return runTool('umount', ['--no-canonicalize', target]);
  }

  function bind(source: string, target: string): Observable<undefined> {
    return mount(source, target, '', ['bind']);
  }

  return {
    below: (path) => defer(() => mountsBelow(path)),
    mount: ({ source, target, type, options }) => mount(source, target, type, options),
    mountMemory: (target, size) => defer(() => mountMemory(target, size)),
    unmount,
    bindInside: (request) => defer(() => bindInside(request, { bind, unmount })).pipe(map(() => undefined)),
  };
}
