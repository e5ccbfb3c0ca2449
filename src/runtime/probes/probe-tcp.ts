import { connect } from 'node:net';
import { Observable, of, timeout } from 'rxjs';
import type { ProbeAnswer } from '../../streams/probes/probe.ts';
import { textOf, type Address } from './address.ts';
import { failure, success } from './answers.ts';
import { dialText, isOurOwn } from './network-error.ts';

/**
 * Success is a connection that is made within `limit` milliseconds. It is reset at once rather than closed: a port of this
 * machine that was used in a proper close stays taken for a minute, and a thousand probes would take them all.
 */
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
      // One that is not connected yet would be reset only once it is.
      if (socket.connecting) socket.destroy();
      else socket.resetAndDestroy();
    };
  }).pipe(timeout({ first: limit, with: () => of(failure(`dial tcp ${textOf(address)}: i/o timeout`)) }));
}
