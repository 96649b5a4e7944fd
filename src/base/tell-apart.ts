import { groupBy } from './collections.ts';
import { highest } from './extremes.ts';

interface Told<Key> {
  /** Those that share a key at the first place in which a group differs; `from`: where the group was compared from. */
  onPlace(same: readonly number[], key: Key, depth: number, from: number): void;
  /** Two or more that are alike to the end. */
  onAlike?(group: readonly number[]): void;
}

/**
 * Tells sequences apart by the first place in which they differ, and those that share a key there by the next such place:
 *
 *     block.py:9, train.py:36      train.py:36
 *     block.py:9, train.py:37      train.py:37
 *     other.py:10, train.py:36     other.py:10, as the first two have block.py:9 there
 *
 * @param group indices of sequences @param keyOf the key at a place; the same for all sequences that are shorter
 */
export function tellApart<Key>(
  group: readonly number[],
  {
    lengthOf,
    keyOf,
  }: {
    readonly lengthOf: (at: number) => number;
    readonly keyOf: (at: number, depth: number) => Key;
  },
  told: Told<Key>,
  from = 0,
): void {
  if (group.length < 2) return;
  const [first] = group;
  const length = highest(group.map(lengthOf));
  let depth = from;
  while (depth < length && group.every((at) => keyOf(at, depth) === keyOf(first, depth))) depth++;
  if (depth >= length) {
    told.onAlike?.(group);
    return;
  }
  for (const [key, same] of groupBy(group, (at) => keyOf(at, depth))) {
    told.onPlace(same, key, depth, from);
    tellApart(same, { lengthOf, keyOf }, told, depth + 1);
  }
}
