import { map, type Observable } from 'rxjs';
import type { RemoveImageRequest } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Removes an image; emits `undefined` when it is gone. */
export function imageRemove({ image, deadlines }: Connection, request: RemoveImageRequest): Observable<undefined> {
  return callUnary(image.client, image.methods.RemoveImage, request, deadlines.usual).pipe(map(() => undefined));
}
