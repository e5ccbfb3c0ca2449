import type { Observable } from 'rxjs';
import type { PullImageRequest, PullImageResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Fetches an image, without a deadline; emits the id to use from then on. */
export function imagePull({ image, deadlines }: Connection, request: PullImageRequest): Observable<PullImageResponse> {
  return callUnary(image.client, image.methods.PullImage, request, deadlines.pullImage);
}
