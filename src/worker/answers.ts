/**
 * The part of a session that is needed once its file is open: all queries about a device, one line per feature in
 * handlers/.
 */
export { matchAllocations } from '../device/search/match-search.ts';
export { dependsOnCursor } from '../device/search/parse-search.ts';
export { loadRegexEngine, mayHoldRegex } from '../device/search/regex.ts';
export { makeColoring } from '../draw/coloring/colorings.ts';
export { serveDeviceCopies } from './analysis/clone-device.ts';
export { LayerRenderer } from './layer-renderer.ts';
export { PartialFile } from './partial/partial-file.ts';

import { type AddressMapQueries, addressMapHandlers } from './handlers/address-map.ts';
import { type AllocationListQueries, allocationListHandlers } from './handlers/allocation-list.ts';
import { type AllocatorStateQueries, allocatorStateHandlers } from './handlers/allocator-state.ts';
import { type ColoringQueries, coloringHandlers } from './handlers/coloring.ts';
import { type CompareQueries, compareHandlers } from './handlers/compare.ts';
import { type AllocationQueries, deviceHandlers } from './handlers/device.ts';
import { type EventListQueries, eventListHandlers } from './handlers/event-list.ts';
import { type ExportQueries, exportHandlers } from './handlers/export.ts';
import { type FlameGraphQueries, flameGraphHandlers } from './handlers/flame-graph.ts';
import { type MemorySummaryQueries, memorySummaryHandlers } from './handlers/memory-summary.ts';
import { type RasterQueries, rasterHandlers } from './handlers/raster.ts';
import { type ReportQueries, reportHandlers } from './handlers/report.ts';
import { type SearchQueries, searchHandlers } from './handlers/search.ts';
import type { QueryHandlers } from './queries.ts';

export interface DeviceQueries
  extends AddressMapQueries,
    AllocationQueries,
    AllocationListQueries,
    CompareQueries,
    EventListQueries,
    ExportQueries,
    FlameGraphQueries,
    ColoringQueries,
    SearchQueries,
    AllocatorStateQueries,
    MemorySummaryQueries,
    ReportQueries,
    RasterQueries {}

export const HANDLERS: QueryHandlers<DeviceQueries> = {
  ...addressMapHandlers,
  ...deviceHandlers,
  ...allocationListHandlers,
  ...compareHandlers,
  ...eventListHandlers,
  ...exportHandlers,
  ...flameGraphHandlers,
  ...coloringHandlers,
  ...searchHandlers,
  ...allocatorStateHandlers,
  ...memorySummaryHandlers,
  ...reportHandlers,
  ...rasterHandlers,
};
