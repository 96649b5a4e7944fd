/** Hashes of texts and numbers: the same in every file and on every machine. */

export const FNV_SEED = 0x811c9dc5;
export const FNV_PRIME = 0x01000193;

/** FNV-1a over UTF-16 units. */
export function hashText(text: string, seed = FNV_SEED): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash | 0;
}

/** Murmur3's finalizer: flipping any bit of the number changes half of the hash's, so `% n` uses them all. */
export function spread(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
