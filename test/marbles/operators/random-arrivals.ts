/** A diagram of `length` frames in which letters and gaps fall by chance; equal seeds draw equal diagrams. */
export function randomArrivals(seed: number, length: number): { readonly diagram: string; readonly count: number } {
  let state = seed;
  const frames = Array.from({ length }, () => {
    state = (state * 16_807) % 2_147_483_647;
    return state % 3 === 0 ? String.fromCharCode(97 + (state % 26)) : '-';
  });
  return { diagram: frames.join(''), count: frames.filter((frame) => frame !== '-').length };
}
