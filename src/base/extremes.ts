/**
 * Largest, smallest and middle of any number of values. Math.max and Math.min take each as an argument,
 * and throw at some 100,000 of them.
 */

/** -Infinity of none. */
export function highest(values: ArrayLike<number>): number {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  return most;
}

/** Infinity of none. */
export function lowest(values: ArrayLike<number>): number {
  let least = Infinity;
  for (let i = 0; i < values.length; i++) least = Math.min(least, values[i]);
  return least;
}

/** NaN of none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
