import type { Observable } from 'rxjs';
import type { ListImagesRequest, ListImagesResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits the images that match the filter, all of them without one. */
export function imageList(
  { image, deadlines }: Connection,
  request: ListImagesRequest,
): Observable<ListImagesResponse> {
  return callUnary(image.client, image.methods.ListImages, request, deadlines.usual);
}
