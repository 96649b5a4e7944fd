/** All questions that the page can ask about a device. One line each here for a feature of answers/. */
import { type AddressQueries, addressAnswers } from './handlers/address-map.ts';
import { type AllocationListQueries, allocationListAnswers } from './handlers/allocation-list.ts';
import { type StateQueries, stateAnswers } from './handlers/allocator-state.ts';
import { type LegendQueries, legendAnswers } from './handlers/coloring.ts';
import { type AllocationQueries, allocationAnswers } from './handlers/device.ts';
import { type EventQueries, eventAnswers } from './handlers/event-list.ts';
import { type ExportQueries, exportAnswers } from './handlers/export.ts';
import { type FlameQueries, flameAnswers } from './handlers/flame-graph.ts';
import { type SummaryQueries, summaryAnswers } from './handlers/memory-summary.ts';
import { type TimelineQueries, timelineAnswers } from './handlers/raster.ts';
import { type ReportQueries, reportAnswers } from './handlers/report.ts';
import { type SearchQueries, searchAnswers } from './handlers/search.ts';
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
