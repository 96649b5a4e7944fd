/** What matches searches, fetched when the first one comes: a session opens and draws files without it. */
import { assert } from '../../base/assert.ts';

type SearchMatching = typeof import('./match-search.ts');

let matching: SearchMatching | undefined;

/** To be awaited before a search is matched. */
export async function loadSearchMatching(): Promise<void> {
  matching ??= await import('./match-search.ts');
}

export function searchMatching(): SearchMatching {
  assert(matching !== undefined, 'loadSearchMatching was awaited');
  return matching;
}
