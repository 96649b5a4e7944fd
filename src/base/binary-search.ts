/** Sorted numbers: an array or any typed array. */
export interface SortedNumbers {
  readonly length: number;
  readonly [index: number]: number;
}

/** First index whose value is >= `value`; `to` when there is none. [1, 3, 3, 7] and 3 give 1. */
export function lowerBound(
  sorted: SortedNumbers,
  value: number,
  from = 0,
  to = sorted.length,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (sorted[mid] < value) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** First index whose value is > `value`; `to` when there is none. [1, 3, 3, 7] and 3 give 3. */
export function upperBound(
  sorted: SortedNumbers,
  value: number,
  from = 0,
  to = sorted.length,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (sorted[mid] <= value) low = mid + 1;
    else high = mid;
  }
  return low;
}
