import { createHash } from 'node:crypto';

/** Texts that are remembered; one that was forgotten is put down once more when it is met again. */
const MOST = 20_000;

/** Gives each text a number, and puts it down when it is met for the first time. */
export function definitions(put: (number: number, text: string) => void): (text: string) => number {
  const numbers = new Map<string, number>();
  let last = 0;

  return (text) => {
    const digest = createHash('sha256').update(text).digest('base64');
    const known = numbers.get(digest);
    // Met again, it is the youngest.
    numbers.delete(digest);
    const number = known ?? ++last;
    numbers.set(digest, number);
    if (known !== undefined) return number;
    put(number, text);
    for (const oldest of numbers.keys()) {
      if (numbers.size <= MOST) break;
      numbers.delete(oldest);
    }
    return number;
  };
}
