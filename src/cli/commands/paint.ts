import type { Terminal } from '../terminal.ts';

/** Looks that text may have on a terminal (ECMA-48, SGR). */
export const LOOKS = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;

export type Look = (typeof LOOKS)[keyof typeof LOOKS];

/** Gives text its look, or leaves it as it is where the terminal is to have no colours. */
export function painter({ colour }: Pick<Terminal, 'colour'>): (look: Look, text: string) => string {
  return colour ? (look, text) => `\u001b[${look}m${text}\u001b[0m` : (_look, text) => text;
}
