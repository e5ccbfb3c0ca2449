import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { Server as GrpcServer, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type { INamespace } from 'protobufjs';
import { healthDescriptor } from '../../../../src/runtime/probes/health-descriptor.ts';
import { SELF_SIGNED } from './self-signed.ts';

/** A server of this machine; `open` counts its connections that are not closed. */
export interface Running {
  readonly port: number;
  readonly open: () => number;
  readonly allClosed: () => Promise<void>;
  readonly stop: () => void;
}

export function httpServer(listener: RequestListener): Promise<Running> {
  return listening(createServer(listener));
}

export function httpsServer(listener: RequestListener): Promise<Running> {
  return listening(createTlsServer(SELF_SIGNED, listener));
}

/** Reads what comes and says nothing, unless told otherwise. */
export function tcpServer(greet: (socket: Socket) => void = (socket) => socket.resume()): Promise<Running> {
  return listening(createTcpServer(greet));
}

export function grpcServer(handlers: UntypedServiceImplementation): Promise<{ port: number; stop: () => void }> {
  const server = new GrpcServer();
  const definition = fromJSON(healthDescriptor as INamespace)['grpc.health.v1.Health'] as ServiceDefinition;
  if (Object.keys(handlers).length > 0) server.addService(definition, handlers);
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else
        resolve({
          port,
          stop: () => {
            server.forceShutdown();
          },
        });
    });
  });
}

/** Passes everything on to another port, to see the connections of a server that does not show them. */
export function forwarder(port: number): Promise<Running> {
  return tcpServer((front) => {
    const back = connect(port, '127.0.0.1');
    pipeline(front, back, front, () => undefined);
  });
}

/** A port on which nobody listens: it was given to a server that is closed again. */
export async function closedPort(): Promise<number> {
  const { port, stop } = await tcpServer();
  stop();
  return port;
}

function listening(server: Server): Promise<Running> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const wake of waiting) wake();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        open: () => sockets.size,
        allClosed: () =>
          new Promise((closed) => {
            waiting.add(closed);
            if (sockets.size === 0) closed();
          }),
        stop: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}
