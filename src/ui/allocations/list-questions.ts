import type {
  AllocationKey,
  AllocationRow,
  CallSiteKey,
  CallSiteRow,
} from '../../core/lists/allocation-list-types.ts';
import type { ListQuestions } from './use-list.ts';

export const ALLOCATION_LIST: ListQuestions<AllocationKey, AllocationRow> = {
  label: 'Allocations',
  count: (session, request) => session.allocationCount(request),
  place: (session, request) => session.allocationRowIndex(request),
  rows: (session, request, signal) => session.allocationRows(request, { signal }),
  tsv: (session, request) => session.allocationsTsv(request),
};

export const SITE_LIST: ListQuestions<CallSiteKey, CallSiteRow> = {
  label: 'Sites',
  count: (session, request) => session.callSiteCount(request),
  place: (session, request) => session.callSiteRowIndex(request),
  rows: (session, request, signal) => session.callSiteRows(request, { signal }),
  tsv: (session, request) => session.callSitesTsv(request),
};
