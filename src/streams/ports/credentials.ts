import type { Observable } from 'rxjs';
import type { AuthConfig } from '../../model/cri/api.ts';

/** What is known for the registry of an image, the most specific first. */
export interface Credentials {
  /** Emits one list, empty where nobody knows anything; never errors: what could not be asked is left out and told. */
  readonly lookUp: (image: string) => Observable<readonly AuthConfig[]>;
}
