import type { SimulatedContainer, SimulatedSandbox } from './node-objects.ts';

/** What a simulated runtime remembers, as plain data (bytes among it): enough for another one to go on with. */
export interface NodeState {
  /** How many runtimes had it before: each draws ids of its own. */
  readonly lives: number;
  readonly sandboxes: readonly SimulatedSandbox[];
  readonly containers: readonly SimulatedContainer[];
  /** Names of the images on the node. */
  readonly images: readonly string[];
  /** How many addresses were given out. */
  readonly addresses: number;
}

export const NEW_NODE: NodeState = { lives: 0, sandboxes: [], containers: [], images: [], addresses: 0 };
