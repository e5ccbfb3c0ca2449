import { catchError, EMPTY, type Observable } from 'rxjs';

/** Tidying up that the next sync repeats; its failure must not keep a container from starting. */
export function optional(work$: Observable<never>): Observable<never> {
  return work$.pipe(catchError(() => EMPTY));
}
