/**
 * The part of a session that is needed once its file is open: all queries about a device, one line per feature in
 * handlers/.
 */
export { matchAllocations } from '../device/search/match-search.ts';
export { dependsOnCursor } from '../device/search/parse-search.ts';
export { loadRegexEngine, mayHoldRegex } from '../device/search/regex.ts';
export { makeColoring } from '../draw/coloring/colorings.ts';
export { cloneDevice } from './analysis/device-copy.ts';
export { PartialFile } from './partial/partial-file.ts';

import { LayerRenderer } from '../draw/timeline/class-layers.ts';
import { addressMapHandlers } from './handlers/address-map.ts';
import { allocationListHandlers } from './handlers/allocation-list.ts';
import { allocatorStateHandlers } from './handlers/allocator-state.ts';
import { compareHandlers } from './handlers/compare.ts';
import { deviceHandlers } from './handlers/device.ts';
import { eventListHandlers } from './handlers/event-list.ts';
import { fileHandlers } from './handlers/files.ts';
import { flameGraphHandlers } from './handlers/flame-graph.ts';
import { timelineHandlers } from './handlers/timeline.ts';
import type { OpenDevice } from './open-device.ts';

/** The timeline's pictures by class. */
export const layersOf = ({ context, index, timeline }: OpenDevice): LayerRenderer =>
  new LayerRenderer(context, index, timeline);

export const HANDLERS = {
  ...addressMapHandlers,
  ...allocationListHandlers,
  ...allocatorStateHandlers,
  ...compareHandlers,
  ...deviceHandlers,
  ...eventListHandlers,
  ...fileHandlers,
  ...flameGraphHandlers,
  ...timelineHandlers,
};
