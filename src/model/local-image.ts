import type { ImageUser } from './security/run-as.ts';

/** An image as the node holds it: by what to name it, and as whom it wants to run. */
export interface LocalImage extends ImageUser {
  readonly ref: string;
}
