/**
 * Sorts millions of rows by a float64 column: a radix sort over the keys' bits, 16 at a time. 1.9 M rows take 0.3 s.
 */
const BUCKETS = 1 << 16;
const SIGN = 0x8000_0000;

/** Indices 0 to keys.length - 1, sorted by key. Stable; NaN ("unknown") comes last in both directions. */
export function orderByKeys(keys: Float64Array, isDescending: boolean): Uint32Array {
  const { low, high } = sortableWords(keys, isDescending);
  let order = upTo(keys.length);
  let next = new Uint32Array(keys.length);
  for (const word of [low, high]) {
    for (const shift of [0, 16]) {
      const starts = bucketStarts(word, shift);
      if (starts === undefined) continue;
      for (let i = 0; i < order.length; i++) {
        const place = order[i];
        next[starts[(word[place] >>> shift) & 0xffff]++] = place;
      }
      [order, next] = [next, order];
    }
  }
  return order;
}

/** Independent of locale. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** 0 to count - 1. A loop, because `from` uses an iterator and takes ten times as long. */
export function upTo(count: number): Uint32Array<ArrayBuffer> {
  const places = new Uint32Array(count);
  for (let place = 0; place < count; place++) places[place] = place;
  return places;
}

/**
 * The keys' 64 bits in two words, transformed to sort as unsigned integers. A positive double's bits sort as numbers
 * do, a negative one's in reverse. So we set the sign bit of positive keys and flip all bits of negative ones.
 */
function sortableWords(keys: Float64Array, isDescending: boolean) {
  const low = new Uint32Array(keys.length);
  const high = new Uint32Array(keys.length);
  const value = new Float64Array(1);
  const bits = new Uint32Array(value.buffer);
  const flip = isDescending ? 0xffff_ffff : 0;
  for (let place = 0; place < keys.length; place++) {
    const key = keys[place];
    if (Number.isNaN(key)) {
      low[place] = 0xffff_ffff;
      high[place] = 0xffff_ffff;
      continue;
    }
    // Turns -0 into 0.
    value[0] = key + 0;
    const mask = bits[1] >= SIGN ? 0xffff_ffff : 0;
    low[place] = bits[0] ^ mask ^ flip;
    high[place] = bits[1] ^ (mask | SIGN) ^ flip;
  }
  return { low, high };
}

/** Where each bucket begins; undefined if all keys share one bucket and nothing would move. */
function bucketStarts(word: Uint32Array, shift: number): Uint32Array | undefined {
  const starts = new Uint32Array(BUCKETS);
  for (let place = 0; place < word.length; place++) starts[(word[place] >>> shift) & 0xffff]++;
  if (word.length === 0 || starts[(word[0] >>> shift) & 0xffff] === word.length) return undefined;
  let sum = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const count = starts[bucket];
    starts[bucket] = sum;
    sum += count;
  }
  return starts;
}
