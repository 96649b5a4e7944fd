/** Math.max and Math.min take each value as an argument and throw at about 100,000 of them. */

/** -Infinity for an empty array. */
export function highest(values: ArrayLike<number>): number {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) most = Math.max(most, values[i]);
  return most;
}

/** Infinity for an empty array. */
export function lowest(values: ArrayLike<number>): number {
  let least = Infinity;
  for (let i = 0; i < values.length; i++) least = Math.min(least, values[i]);
  return least;
}

/** NaN for an empty array. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
