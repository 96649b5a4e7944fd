import type { DeviceContext } from '../core/device/device-context.ts';
import { dependsOnCursor, matchAllocations } from '../core/search/match-allocations.ts';
import type { SearchMatches } from '../core/search/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';
import { LruCache } from './lru-cache.ts';

/** Each view asks for the same search with each frame; two or three are typed one after the other. */
const KEPT = 4;

/** The matches of the last few searches on a device: a byte an allocation each. */
export class SearchCache {
  readonly #context: DeviceContext;
  readonly #kept = new LruCache<SearchMatches>(KEPT);

  constructor(context: DeviceContext) {
    this.#context = context;
  }

  /** As matchAllocations: `at` is the cursor, undefined the end. */
  of(search: string, at: EventIndex | undefined): SearchMatches {
    // Most searches match the same wherever the cursor is.
    const state = dependsOnCursor(search) ? at : undefined;
    const name = `${state ?? 'end'} ${search}`;
    return this.#kept.get(name, () => matchAllocations(this.#context, search, state));
  }
}
