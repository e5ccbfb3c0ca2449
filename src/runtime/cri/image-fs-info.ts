import type { Observable } from 'rxjs';
import type { ImageFsInfoResponse } from '../../model/cri/api.ts';
import { callUnary } from './call-unary.ts';
import type { Connection } from './connection.ts';

/** Emits how full the disks of images and containers are. */
export function imageFsInfo({ image, deadlines }: Connection): Observable<ImageFsInfoResponse> {
  return callUnary(image.client, image.methods.ImageFsInfo, {}, deadlines.usual);
}
