import { Buffer } from 'node:buffer';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { messageOf } from '../../model/errors.ts';
import { NEW_NODE, type NodeState } from '../../simulation/node-state.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';

/** What a simulated runtime had kept in a file; a new node where there is none. Throws a `CliError` at anything else. */
export function loadNode(path: string): NodeState {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NEW_NODE;
    throw new CliError(EXIT_CODES.cannotStart, `cannot read ${path}: ${messageOf(error)}`);
  }
  try {
    const state: unknown = JSON.parse(text, bytesBack);
    if (isState(state)) return state;
  } catch {
    // As good as something else.
  }
  throw new CliError(
    EXIT_CODES.usage,
    `${path} does not hold the state of a simulated runtime`,
    'Name another file, or remove it.',
  );
}

/** Keeps it so that a reader finds the old state or the new one, whatever happens meanwhile. */
export function saveNode(path: string, state: NodeState): void {
  const beside = `${path}.new`;
  writeFileSync(beside, JSON.stringify(state), { mode: 0o600 });
  renameSync(beside, path);
}

/** Values of variables are bytes, which JSON writes as what `Buffer` makes of them. */
function bytesBack(_key: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
  return isBytes && 'data' in value ? Buffer.from(value.data as readonly number[]) : value;
}

function isState(value: unknown): value is NodeState {
  if (typeof value !== 'object' || value === null) return false;
  const { lives, addresses, sandboxes, containers, images } = value as Partial<Record<keyof NodeState, unknown>>;
  return (
    typeof lives === 'number' && typeof addresses === 'number' && [sandboxes, containers, images].every(Array.isArray)
  );
}
