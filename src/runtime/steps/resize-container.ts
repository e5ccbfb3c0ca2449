import { concat, ignoreElements, of, type Observable } from 'rxjs';
import type { ObservedContainer } from '../../model/observed.ts';
import type { Container, Pod } from '../../model/pod.ts';
import { containerResources } from '../../model/resources.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import type { PerformContext } from '../perform-context.ts';

/** Facts sheet 10.5 says how amounts become the runtime's resources. */
export function resizeContainer(
  pod: Pod,
  container: Container,
  { id }: ObservedContainer,
  context: PerformContext,
): Observable<PodNote> {
  const { cri, rules } = context;
  const { name } = container;
  return concat(
    cri
      .updateContainerResources({ containerId: id, linux: containerResources(pod.spec, container, rules) })
      .pipe(ignoreElements()),
    of<PodNote>({ level: 'Normal', reason: 'ResizeCompleted', message: `Container ${name} resized`, container: name }),
  );
}
