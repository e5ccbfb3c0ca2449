import { tap } from 'rxjs';
import type { Meter } from '../../streams/ports/meter.ts';
import type { Images } from '../ensure-image.ts';

/** The same images, whose pulls are measured: told with the first look at the image that came, which knows its size. */
export function meterImages({ status, pull }: Images, meter: Meter): Images {
  const pulled = new Map<string, number>();
  return {
    pull: (ask) => pull(ask).pipe(tap(({ took }) => pulled.set(ask.image, took))),
    status: (image, pod) =>
      status(image, pod).pipe(
        tap((answer) => {
          const took = pulled.get(image);
          if (took === undefined) return;
          pulled.delete(image);
          meter({ kind: 'pull', took, size: answer.image?.size ?? 0 });
        }),
      ),
  };
}
