import type { Observable } from 'rxjs';
import type { NodeImage } from '../../model/images/choose-images.ts';
import type { ImageDisk } from '../../model/images/image-room.ts';

/** The images that this node holds. Cold Observables that emit once and complete; they error where the runtime does. */
export interface NodeImages {
  readonly list: () => Observable<readonly NodeImage[]>;
  /** Removes it under all of its names. */
  readonly remove: (image: NodeImage) => Observable<undefined>;
  /** `undefined` where the runtime does not tell on which disk they are. */
  readonly disk: () => Observable<ImageDisk | undefined>;
}
