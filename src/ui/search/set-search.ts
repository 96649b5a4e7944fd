/** Questions for `useQuery`. */
import type { SearchRequest } from '../../engine/handlers/search.ts';
import type { SessionApi } from '../../engine/protocol.ts';

export const askSummary = (session: SessionApi, request: SearchRequest) =>
  session.searchSummary(request);

export const askKnownValues = (session: SessionApi, request: { readonly deviceIndex: number }) =>
  session.searchValues(request);
