import type { Namespace } from '../protobuf/descriptor.ts';

/** The gRPC health checking protocol, as far as a probe speaks it. */
export const healthDescriptor: Namespace = {
  nested: { grpc: { nested: { health: { nested: { v1: v1() } } } } },
};

function v1(): Namespace {
  return {
    nested: {
      Health: {
        methods: { Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' } },
      },
      HealthCheckRequest: { fields: { service: { type: 'string', id: 1 } } },
      HealthCheckResponse: { fields: { status: { type: 'ServingStatus', id: 1 } } },
      ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } },
    },
  };
}
