/** How long each kind of call may take, in milliseconds; `undefined` is without limit. */
export interface Deadlines {
  /** Every call that is not named below. */
  readonly usual: number;
  readonly runPodSandbox: number;
  /** `grace` in seconds, as in the request. */
  readonly stopContainer: (grace: number) => number;
  /** `timeout` in seconds, as in the request; 0 lets the command run as long as it likes. */
  readonly execSync: (timeout: number) => number | undefined;
  /** A pull takes as long as the network does; only unsubscribing ends it. */
  readonly pullImage: undefined;
}

/** The kubelet's rules (cri-client) over its `runtimeRequestTimeout`, in milliseconds. */
export function deadlines(requestTimeout: number): Deadlines {
  return {
    usual: requestTimeout,
    runPodSandbox: 2 * requestTimeout,
    stopContainer: (grace) => requestTimeout + 1_000 * grace,
    execSync: (timeout) => (timeout > 0 ? requestTimeout + 1_000 * timeout : undefined),
    pullImage: undefined,
  };
}

/** Longest time a Node timer can wait; longer ones would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** The limit of a call in milliseconds; one that is too long to be waited for is none. */
export function timeLimit(timeout: number | undefined): number | undefined {
  return timeout === undefined || timeout > LONGEST ? undefined : timeout;
}
