import type { Observable } from 'rxjs';
import type { ImageStatusRequest, ImageStatusResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits what is known of one image; the answer has no `image` when it is not there. */
export function imageStatus(
  { image, deadlines }: Connection,
  request: ImageStatusRequest,
): Observable<ImageStatusResponse> {
  return callUnary(image.client, image.methods.ImageStatus, request, deadlines.usual);
}
