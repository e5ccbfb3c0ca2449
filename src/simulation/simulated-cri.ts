import { map, throwError, type Observable } from 'rxjs';
import type { CgroupDriver, ContainerEventResponse, RuntimeCondition } from '../model/cri/api.ts';
import { RuntimeError } from '../model/errors.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { CriStats } from '../streams/ports/cri-stats.ts';
import { eventOf } from './answers.ts';
import { containerCalls } from './container-calls.ts';
import { imageCalls } from './image-calls.ts';
import { asks, type RuntimeParts } from './runtime-parts.ts';
import { sandboxCalls } from './sandbox-calls.ts';
import { statsCalls } from './stats-calls.ts';

export interface SimulatedCriParts extends RuntimeParts {
  readonly cgroupDriver: CgroupDriver;
}

const VERSION = {
  version: '0.1.0',
  runtimeName: 'simulated',
  runtimeVersion: '1.0.0',
  runtimeApiVersion: 'v1',
};

/** The container runtime of a simulated node: answers as containerd does, without containers. */
export function simulatedCri(parts: SimulatedCriParts): Cri & CriStats {
  const { calls, cgroupDriver, networkReady } = parts;
  return {
    version: () => asks(calls, 'Version', {}, () => VERSION),
    status: () =>
      asks(calls, 'Status', {}, () => ({
        status: { conditions: [condition('RuntimeReady', true), condition('NetworkReady', networkReady())] },
        runtimeHandlers: [],
      })),
    // SYSTEMD is the first of its enumeration, and so absent in an answer.
    runtimeConfig: () =>
      asks(calls, 'RuntimeConfig', {}, () => ({ linux: cgroupDriver === 'SYSTEMD' ? {} : { cgroupDriver } })),
    ...sandboxCalls(parts),
    ...containerCalls(parts),
    ...imageCalls(parts),
    ...statsCalls(parts),
    containerEvents: () => containerEvents(parts),
    exec: () => hasNoServer('Exec'),
    attach: () => hasNoServer('Attach'),
    portForward: () => hasNoServer('PortForward'),
  };
}

/** Bytes do not flow in virtual time. */
function hasNoServer(call: string): Observable<never> {
  return throwError(() => new RuntimeError('unimplemented', call, 'a simulated runtime has no processes to talk to'));
}

function containerEvents({ calls, machine, hasEvents }: RuntimeParts): Observable<ContainerEventResponse> {
  const name = 'GetContainerEvents';
  if (!hasEvents) {
    const unknown = new RuntimeError('unimplemented', name, 'this runtime has no stream of events');
    return calls.call({ name, request: {}, effect: () => throwError(() => unknown) });
  }
  const event$ = machine.happening$.pipe(
    map((happening) => eventOf(happening, machine.inSandbox(happening.sandbox.id))),
  );
  return calls.stream(name, event$);
}

function condition(type: string, isTrue: boolean): RuntimeCondition {
  return { type, status: isTrue || undefined };
}
