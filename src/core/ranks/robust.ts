/** The middle of figures, and how far they stray from it, neither moved by a few that are far off. */

/** NaN of none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Of normally spread figures, the standard deviation: 1.4826 × the median distance from the median. */
export function spread(values: readonly number[], middle = median(values)): number {
  return 1.4826 * median(values.map((value) => Math.abs(value - middle)));
}
