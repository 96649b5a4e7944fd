/** From a file that goes wrong to a small one that goes wrong the same way, which a person can read. */

export interface ShrinkOptions {
  /** Time after which the smallest one so far is good enough. */
  readonly limitMs?: number;
  readonly now?: () => number;
}

const LIMIT_MS = 20_000;

/**
 * Takes away parts, half of the file at first and single bytes at last, for as long as the rest goes
 * wrong the same way. Example: 'abcXdeYf' becomes 'XY' where both have to be there.
 * @param isSame whether a file goes wrong as the first one does
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
    // What was needed for a part that is gone may go now, too.
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
