/** The known name that a wrong one most likely stands for: another case, or at most two letters off. */
export function suggestName(wrong: string, known: readonly string[]): string | undefined {
  const lower = wrong.toLowerCase();
  const sameLetters = known.find((name) => name.toLowerCase() === lower);
  if (sameLetters !== undefined) return sameLetters;

  const near = known
    .map((name) => ({ name, steps: editDistance(lower, name.toLowerCase()) }))
    .filter(({ name, steps }) => steps <= 2 && steps * 3 <= name.length)
    .sort((a, b) => a.steps - b.steps);
  return near[0]?.name;
}

/** Fewest letters to insert, drop, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swaps = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      current[j] = Math.min(
        replaced,
        at(previous, j) + 1,
        at(current, j - 1) + 1,
        swaps ? at(older, j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    older = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
