/** All questions that the page can ask about a device. One line each here for a feature of answers/. */
import { type AddressQueries, addressAnswers } from './answers/addresses.ts';
import { type AllocationQueries, allocationAnswers } from './answers/allocation.ts';
import { type AllocationListQueries, allocationListAnswers } from './answers/allocations.ts';
import { type EventQueries, eventAnswers } from './answers/events.ts';
import { type ExportQueries, exportAnswers } from './answers/export.ts';
import { type FlameQueries, flameAnswers } from './answers/flame.ts';
import { type LegendQueries, legendAnswers } from './answers/legend.ts';
import { type ReportQueries, reportAnswers } from './answers/report.ts';
import { type SearchQueries, searchAnswers } from './answers/search.ts';
import { type StateQueries, stateAnswers } from './answers/state.ts';
import { type SummaryQueries, summaryAnswers } from './answers/summary.ts';
import { type TimelineQueries, timelineAnswers } from './answers/timeline.ts';
import type { Answers } from './queries.ts';

export interface DeviceQueries
  extends AddressQueries,
    AllocationQueries,
    AllocationListQueries,
    EventQueries,
    ExportQueries,
    FlameQueries,
    LegendQueries,
    SearchQueries,
    StateQueries,
    SummaryQueries,
    ReportQueries,
    TimelineQueries {}

export const ANSWERS: Answers<DeviceQueries> = {
  ...addressAnswers,
  ...allocationAnswers,
  ...allocationListAnswers,
  ...eventAnswers,
  ...exportAnswers,
  ...flameAnswers,
  ...legendAnswers,
  ...searchAnswers,
  ...stateAnswers,
  ...summaryAnswers,
  ...reportAnswers,
  ...timelineAnswers,
};
