import { ReplaySubject, share, type MonoTypeOperatorFunction } from 'rxjs';

/**
 * Shares one subscription to a state: whoever comes late hears the latest value first.
 *
 * ```text
 * source    a---b---c---|
 * early     a---b---c---|
 * late      --a-b---c---|     subscribed after a
 * ```
 *
 * * The source is subscribed while anybody listens; when the last one leaves, its value is forgotten.
 * * After completion the last value and the completion are told to all who come; after an error the source is tried anew.
 */
export function shareLatest<T>(): MonoTypeOperatorFunction<T> {
  return share({
    connector: () => new ReplaySubject<T>(1),
    resetOnComplete: false,
    resetOnError: true,
    resetOnRefCountZero: true,
  });
}
