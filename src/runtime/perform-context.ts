import type { Http } from '../streams/ports/http.ts';
import type { Tracer } from '../streams/ports/tracer.ts';
import type { RuntimeContext } from './context.ts';
import type { Images } from './ensure-image.ts';

/** What the steps of a plan act on. */
export interface PerformContext extends RuntimeContext {
  readonly images: Images;
  readonly http: Http;
  /** Hears what is planned; absent: nobody does. */
  readonly trace?: Tracer;
}
