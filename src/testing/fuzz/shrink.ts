/** Reduces a file that fails to a small one that fails in the same way and that a person can read. */

export interface ShrinkOptions {
  /** After this time, the smallest one so far is good enough. */
  readonly limitMs?: number;
  readonly now?: () => number;
}

const LIMIT_MS = 20_000;

/**
 * Removes parts, first half of the file and at last single bytes, as long as the rest fails in the same way. Example:
 * 'abcXdeYf' becomes 'XY' if both are needed.
 * @param isSame whether a file fails as the first one does
 */
export async function shrink(
  bytes: Uint8Array,
  isSame: (smaller: Uint8Array) => Promise<boolean>,
  { limitMs = LIMIT_MS, now = () => performance.now() }: ShrinkOptions = {},
): Promise<Uint8Array> {
  const endsMs = now() + limitMs;
  let smallest = bytes;
  let length = Math.ceil(bytes.length / 2);
  while (length > 0) {
    const before = smallest.length;
    for (let at = 0; at < smallest.length; ) {
      if (now() > endsMs) return smallest;
      const smaller = without(smallest, at, length);
      if (await isSame(smaller)) smallest = smaller;
      else at += length;
    }
    // What a removed part needed may be removable now.
    const goesOn = length === 1 && smallest.length < before;
    if (!goesOn) length = length === 1 ? 0 : Math.ceil(length / 2);
  }
  return smallest;
}

function without(bytes: Uint8Array, at: number, length: number): Uint8Array {
  const rest = new Uint8Array(bytes.length - Math.min(length, bytes.length - at));
  rest.set(bytes.subarray(0, at));
  rest.set(bytes.subarray(at + length), at);
  return rest;
}
