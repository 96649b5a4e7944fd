/** What the search box asks. The views ask for their own pictures; OpenDevice.matches is shared. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { eventAtTime } from '../../device/model/events.ts';
import { liveBytesAt } from '../../device/search/match-search.ts';
import { type NamedPart, nameParts } from '../../device/search/qualifiers/names.ts';
import { type KnownValues, knownValues } from '../../device/search/qualifiers.ts';
import { type MatchStep, positionBefore, stepMatch } from '../../device/search/step-match.ts';
import type { SearchMatches } from '../../device/search/types.ts';
import type { TimeAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface SearchRequest {
  readonly search: string;
  /** The cursor; undefined: states and ages are those at the end. */
  readonly at: EventIndex | undefined;
}

/** SearchMatches without its masks. */
export interface SearchSummary extends Omit<SearchMatches, 'mask' | 'frames'> {
  /** False for an empty search and for one with a problem: everything is shown. */
  readonly isFiltering: boolean;
  /** Block bytes of the matches that are there at the cursor; undefined without one. */
  readonly cursorBytes: number | undefined;
}

export interface StepRequest extends SearchRequest {
  /** The selected allocation, from which the step goes; -1 for none. */
  readonly selected: AllocationIndex;
  /** Where the window begins: without a selection the walk begins there. */
  readonly axis: TimeAxis;
  readonly windowFrom: number;
  readonly isBackwards: boolean;
}

export interface SearchQueries {
  readonly searchSummary: Query<SearchRequest, SearchSummary>;
  /** The next or previous match; undefined when nothing matches. */
  readonly stepMatch: Query<StepRequest, MatchStep | undefined>;
  /** Gives the search names for parts of the account: part:kept. */
  readonly nameParts: Query<{ readonly parts: readonly NamedPart[] }, undefined>;
  /** For completions. */
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
