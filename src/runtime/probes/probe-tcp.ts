import { connect } from 'node:net';
import { Observable, of, timeout } from 'rxjs';
import type { ProbeAnswer } from '../../streams/probes/probe.ts';
import { textOf, type Address } from './address.ts';
import { failure, success } from './answers.ts';
import { dialText, isOurOwn } from './network-error.ts';

/** Success is a connection that is made within `limit` milliseconds; it is closed at once. */
export function probeTcp(address: Address, limit: number): Observable<ProbeAnswer> {
  return new Observable<ProbeAnswer>((subscriber) => {
    const socket = connect(address);
    const answer = (given: ProbeAnswer): void => {
      subscriber.next(given);
      subscriber.complete();
    };
    socket.once('connect', () => {
      answer(success(''));
    });
    // Stays for what may still come after the answer.
    socket.on('error', (error) => {
      if (isOurOwn(error)) subscriber.error(error);
      else answer(failure(dialText(error, address)));
    });
    return () => {
      socket.destroy();
    };
  }).pipe(timeout({ first: limit, with: () => of(failure(`dial tcp ${textOf(address)}: i/o timeout`)) }));
}
