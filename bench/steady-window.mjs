/**
 * Finds events that can be repeated: a window [from, to) of a trace after which each segment and
 * block is what it was before it. The same events then fit again, as often as one likes, and no
 * replay finds anything odd in them.
 *
 * The state is hashed event by event. Where two hashes agree, so do the states; the longest window
 * is taken, which for a training run spans as many whole steps as are steady.
 */
import { field } from './pickle-nodes.mjs';

/** What an event does to the state, as pairs of a thing and whether it is there afterwards. */
function changes(action, address, sizeBytes) {
  switch (action) {
    case 'alloc':
      return [[`block ${address} ${sizeBytes}`, true]];
    case 'free_requested':
      return [
        [`block ${address} ${sizeBytes}`, false],
        [`pending ${address} ${sizeBytes}`, true],
      ];
    case 'free_completed':
      return [[`pending ${address} ${sizeBytes}`, false]];
    case 'segment_alloc':
    case 'segment_map':
      return [[`segment ${address} ${sizeBytes}`, true]];
    case 'segment_free':
    case 'segment_unmap':
      return [[`segment ${address} ${sizeBytes}`, false]];
    default:
      return [];
  }
}

/**
 * @param {readonly import('./pickle-nodes.mjs').Node[]} events
 * @returns {{from: number, to: number}} the longest window
 * @throws when no state comes twice
 */
export function findSteadyWindow(events) {
  const firstSeen = new Map([['0', 0]]);
  let state = 0n;
  let best = { from: 0, to: 0 };
  events.forEach((event, index) => {
    const [action, address, sizeBytes] = ['action', 'addr', 'size'].map(
      (key) => field(event, key)?.value,
    );
    for (const [thing, isAdded] of changes(action, address, sizeBytes)) {
      state += isAdded ? hash(thing) : -hash(thing);
    }
    const key = state.toString(36);
    const from = firstSeen.get(key) ?? index + 1;
    if (from === index + 1) firstSeen.set(key, from);
    if (index + 1 - from > best.to - best.from) best = { from, to: index + 1 };
  });
  if (best.to === 0) throw new Error('No state of the allocator comes twice in this trace');
  return best;
}

/** 64-bit FNV-1a. */
function hash(text) {
  let value = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++) {
    value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  }
  return value;
}
