/**
 * Math.max and Math.min of any number of values: those two take each as an argument, and throw at
 * some 100,000 of them.
 */

/** -Infinity of none. */
export function highest(values: Iterable<number>): number {
  let most = -Infinity;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** Infinity of none. */
export function lowest(values: Iterable<number>): number {
  let least = Infinity;
  for (const value of values) least = Math.min(least, value);
  return least;
}
