import type {
  AllocationKey,
  AllocationRow,
  SiteKey,
  SiteRow,
} from '../../core/lists/allocation-list-types.ts';
import type { ListQuestions } from './use-list.ts';

export const ALLOCATION_LIST: ListQuestions<AllocationKey, AllocationRow> = {
  label: 'Allocations',
  count: (session, request) => session.allocationCount(request),
  place: (session, request) => session.allocationPlace(request),
  rows: (session, request, signal) => session.allocationRows(request, { signal }),
  tsv: (session, request) => session.allocationsTsv(request),
};

export const SITE_LIST: ListQuestions<SiteKey, SiteRow> = {
  label: 'Sites',
  count: (session, request) => session.siteCount(request),
  place: (session, request) => session.sitePlace(request),
  rows: (session, request, signal) => session.siteRows(request, { signal }),
  tsv: (session, request) => session.sitesTsv(request),
};
