/** What the page shows of an allocator state: totals, the cache, and rows for the visible segments. */

import { blockRules } from '../../allocator/replay/rounding.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { cacheReleaseAt, type PinningBlock } from '../../allocator/state/empty-cache.ts';
import type { AllocatorState, SegmentStateIndex } from '../../allocator/state/types.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { stackKind } from '../model/stacks.ts';
import { type GroupedSegments, segmentKind } from './segment-groups.ts';

const MAX_PIN_SITES = 5;

export type StateOverview = ReturnType<typeof stateOverview>;

export function stateOverview(
  context: DeviceModel,
  state: AllocatorState,
  { groups, totals }: GroupedSegments,
) {
  const { largeSegmentBytes } = blockRules(context.snapshot.settings, context.trace.accelerator);
  const { pins, ...release } = cacheReleaseAt(state, context.trace.pools, largeSegmentBytes);
  const bySite = groupBy(pins, ({ allocation }) => siteOf(context, allocation));
  const sites = [...bySite.values()].map((own) => ({ own, keptBytes: keptBy(own) }));
  sites.sort((a, b) => b.keptBytes - a.keptBytes);
  const others = sites.slice(MAX_PIN_SITES);
  return {
    event: state.event,
    groups,
    totals,
    release,
    /** The source lines whose blocks pin the most free bytes, largest first. */
    pinSites: sites.slice(0, MAX_PIN_SITES).map(({ own }) => pinSite(context, own)),
    /** How many more sites there are, and the bytes they pin. */
    otherPinSites: others.length,
    otherPinnedBytes: Math.round(sumBy(others, ({ keptBytes }) => keptBytes)),
  };
}

const keptBy = (pins: readonly PinningBlock[]): number => sumBy(pins, ({ bytes }) => bytes);

export type PinSite = ReturnType<typeof pinSite>;

/**
 * Live blocks of one source line that keep free memory from being returned to the driver. The user's own line is used
 * where the stack has one, so a loop's blocks count as one site.
 */
function pinSite({ replay, stacks }: DeviceModel, pins: readonly PinningBlock[]) {
  const { stack, preexisting } = replay.allocations;
  const { allocation } = pins.reduce((most, pin) => (pin.bytes > most.bytes ? pin : most));
  return {
    /** The block that pins the most bytes. */
    allocation,
    // In an expandable segment, one block may pin bytes on both sides.
    blocks: new Set(pins.map((pin) => pin.allocation)).size,
    segments: new Set(pins.map((pin) => pin.segment)).size,
    keptBytes: Math.round(keptBy(pins)),
    stackKind: stackKind(stack[allocation], allocation < preexisting),
    frame: stacks.topUserFrameView(stack[allocation]),
  };
}

function siteOf({ replay, stacks }: DeviceModel, allocation: AllocationIndex): string {
  const { stack, preexisting } = replay.allocations;
  const frame = stacks.topUserFrame(stack[allocation]);
  return frame === undefined
    ? stackKind(stack[allocation], allocation < preexisting)
    : `frame ${frame}`;
}

export type SegmentRow = ReturnType<typeof segmentRow>;

export function segmentRow(
  { snapshot, trace, stacks }: DeviceModel,
  { event, segments: s }: AllocatorState,
  row: SegmentStateIndex,
) {
  const live = s.allocatedBytes[row] + s.pendingBytes[row];
  const mappedEvent = s.firstMapped[row];
  const { events } = trace;
  return {
    /** '7f064c000000' */
    addressHex: snapshot.addresses.toHex(s.address[row]),
    kind: segmentKind(s, row),
    sizeBytes: s.sizeBytes[row],
    allocatedBytes: s.allocatedBytes[row],
    pendingBytes: s.pendingBytes[row],
    largestFreeBytes: s.largestFreeBytes[row],
    /** Lost to rounding in live blocks. Excludes blocks whose requested size is unknown (`unknownBytes`). */
    roundingBytes: live - s.requestedBytes[row] - s.unknownBytes[row],
    unknownBytes: s.unknownBytes[row],
    liveBlocks: s.liveBlocks[row],
    /** Mapped pieces; 1 for a native segment. */
    pieces: s.pieces[row],
    /** The event that mapped it (for several pieces, the oldest); -1 before the trace. */
    mappedEvent,
    /** From `mappedEvent` to the state's event; NaN without times or when mapped before the trace. */
    ageUs: timeOfEventUs(events, event) - timeOfEventUs(events, mappedEvent),
    /** The event that mapped its newest piece. */
    grownEvent: s.lastMapped[row],
    stackKind: stackKind(s.stack[row], mappedEvent < 0),
    /** The user's line that requested it. */
    frame: stacks.topUserFrameView(s.stack[row]),
  };
}
