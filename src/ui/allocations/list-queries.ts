import type {
  AllocationKey,
  AllocationRow,
  CallSiteKey,
  CallSiteRow,
} from '../../core/lists/allocation-list-types.ts';
import type { ListQueries } from './use-list.ts';

export const ALLOCATION_LIST: ListQueries<AllocationKey, AllocationRow> = {
  label: 'Allocations',
  count: 'allocationCount',
  place: 'allocationRowIndex',
  rows: (ask, request, signal) => ask('allocationRows', request, { signal }),
  tsv: (ask, request) => ask('allocationsTsv', request),
};

export const SITE_LIST: ListQueries<CallSiteKey, CallSiteRow> = {
  label: 'Sites',
  count: 'callSiteCount',
  place: 'callSiteRowIndex',
  rows: (ask, request, signal) => ask('callSiteRows', request, { signal }),
  tsv: (ask, request) => ask('callSitesTsv', request),
};
