import type { INamespace } from 'protobufjs';

/** The gRPC health checking protocol, as far as a probe speaks it. */
export const healthDescriptor: INamespace = {
  nested: { grpc: { nested: { health: { nested: { v1: v1() } } } } },
};

function v1(): INamespace {
  return {
    nested: {
      Health: {
        methods: { Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse', comment: '' } },
      },
      HealthCheckRequest: { fields: { service: { type: 'string', id: 1 } } },
      HealthCheckResponse: { fields: { status: { type: 'ServingStatus', id: 1 } } },
      ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
    },
  };
}
