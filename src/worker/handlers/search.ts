/** Queries of the search box. The views draw their own pictures; they share OpenDevice.matches. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { eventAtTime } from '../../device/model/events.ts';
import {
  liveBytesAt,
  type MatchStep,
  positionBefore,
  stepMatch,
} from '../../device/search/match-search.ts';
import { type NamedPart, nameParts } from '../../device/search/qualifiers/names.ts';
import { type KnownValues, knownValues } from '../../device/search/qualifiers.ts';
import type { SearchMatches } from '../../device/search/types.ts';
import type { TimeAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface SearchRequest {
  readonly search: string;
  /** The cursor; undefined means states and ages at the end. */
  readonly at: EventIndex | undefined;
}

/** SearchMatches without its masks. */
export interface SearchSummary extends Omit<SearchMatches, 'mask' | 'frames'> {
  /** False for an empty or invalid search, which shows everything. */
  readonly isFiltering: boolean;
  /** Block bytes of the matches that exist at the cursor; undefined without a cursor. */
  readonly cursorBytes: number | undefined;
}

export interface StepRequest extends SearchRequest {
  /** The allocation from which to step; -1 for none. */
  readonly selected: AllocationIndex;
  /** Without a selection, the walk starts at the window's beginning. */
  readonly axis: TimeAxis;
  readonly windowFrom: number;
  readonly isBackwards: boolean;
}

export interface SearchQueries {
  readonly searchSummary: Query<SearchRequest, SearchSummary>;
  /** The next or previous match; undefined if nothing matches. */
  readonly stepMatch: Query<StepRequest, MatchStep | undefined>;
  /** Tells the search the names of the account's parts, for terms such as part:kept. */
  readonly nameParts: Query<{ readonly parts: readonly NamedPart[] }, undefined>;
  readonly searchValues: Query<object, KnownValues>;
}

export const searchHandlers: QueryHandlers<SearchQueries> = {
  async searchSummary(device, { search, at }) {
    const { mask, frames: _, ...summary } = await device.matches(search, at);
    const cursorBytes = at === undefined ? undefined : liveBytesAt(device.context, mask, at);
    return { ...summary, isFiltering: mask !== undefined, cursorBytes };
  },
  async stepMatch(device, { search, at, selected, axis, windowFrom, isBackwards }) {
    const { context } = device;
    const { events } = context.trace;
    const event = axis === 'time' ? eventAtTime(events, windowFrom) : Math.floor(windowFrom);
    const from = selected >= 0 ? selected : positionBefore(context, event);
    const { mask } = await device.matches(search, at);
    return stepMatch(context, mask, from, isBackwards);
  },
  nameParts(device, { parts }) {
    nameParts(device.context, parts);
    device.forgetMatches();
    return undefined;
  },
  searchValues: ({ context }) => knownValues(context),
};
