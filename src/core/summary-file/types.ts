/** The summary of one rank's snapshot: see {@link SUMMARY_SHAPE}. */
import type { Recording } from '../replay/types.ts';
import type { SITE_FIGURES, SUMMARY_SHAPE, ValueOf } from './summary-shape.ts';

export const SUMMARY_SCHEMA = 'vramscope.summary/1';
/** Of the JSON text, in UTF-8. */
export const MAX_SUMMARY_BYTES = 64_000;
/** What files with summaries are called: rank3.vramscope.json. */
export const SUMMARY_EXTENSION = 'vramscope.json';

export type RankSummary = ValueOf<typeof SUMMARY_SHAPE> & {
  readonly schema: typeof SUMMARY_SCHEMA;
  readonly kind: 'cuda' | 'host';
  readonly recording: Recording;
  readonly curve: { readonly unit: 'time' | 'event' };
};

export type SiteFigures = ValueOf<{ readonly fields: typeof SITE_FIGURES }>;
export type SummarySite = RankSummary['callSites'][number];
export type SummaryOom = RankSummary['ooms'][number];
export type SummaryAnnotation = RankSummary['annotations'][number];
export type SummaryFinding = RankSummary['findings'][number];
