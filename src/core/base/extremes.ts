/**
 * Math.max and Math.min of any number of values: those two take each as an argument, and throw at
 * some 100,000 of them.
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
