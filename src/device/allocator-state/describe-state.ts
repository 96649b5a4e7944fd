/** What the page shows of a state: totals, the cache, and rows for the segments on screen. */

import { blockRules } from '../../allocator/replay/rounding.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { cacheReleaseAt, type PinningBlock } from '../../allocator/state/empty-cache.ts';
import type { AllocatorState, SegmentStateIndex } from '../../allocator/state/types.ts';
import { groupBy } from '../../base/grouping.ts';
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
  const { largeSegmentBytes } = blockRules(context.snapshot.settings);
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
    /** Lines whose blocks keep most free bytes from going back, the largest first. */
    pinSites: sites.slice(0, MAX_PIN_SITES).map(({ own }) => pinSite(context, own)),
    /** How many more there are, and what they keep. */
    otherPinSites: others.length,
    otherPinnedBytes: Math.round(others.reduce((sum, { keptBytes }) => sum + keptBytes, 0)),
  };
}

const keptBy = (pins: readonly PinningBlock[]): number =>
  pins.reduce((sum, { bytes }) => sum + bytes, 0);

export type PinSite = ReturnType<typeof pinSite>;

/**
 * Live blocks of one line that keep free memory from going back: the user's own line where the stack
 * has one, so that the blocks of a loop are one site whatever PyTorch did below it.
 */
function pinSite({ replay, stacks }: DeviceModel, pins: readonly PinningBlock[]) {
  const { stack, preexisting } = replay.allocations;
  const { allocation } = pins.reduce((most, pin) => (pin.bytes > most.bytes ? pin : most));
  return {
    /** The one of its blocks that keeps most. */
    allocation,
    // An expandable segment's block may keep bytes on both its sides.
    blocks: new Set(pins.map((pin) => pin.allocation)).size,
    segments: new Set(pins.map((pin) => pin.segment)).size,
    keptBytes: Math.round(keptBy(pins)),
    stackKind: stackKind(stack[allocation], allocation < preexisting),
    frame: stacks.topUserFrameView(stack[allocation]),
  };
}

/** The frame to look at, or why there is none. */
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
    /** Lost to rounding in live blocks; of `unknownBytes` of blocks it is not known. */
    roundingBytes: live - s.requestedBytes[row] - s.unknownBytes[row],
    unknownBytes: s.unknownBytes[row],
    liveBlocks: s.liveBlocks[row],
    /** Mapped pieces; 1 for a native segment. */
    pieces: s.pieces[row],
    /** Event that brought it, its oldest piece where there are several; -1 is before the trace. */
    mappedEvent,
    /** From then to the state's event; NaN without times and from before the trace. */
    ageUs: timeOfEventUs(events, event) - timeOfEventUs(events, mappedEvent),
    /** Event that mapped its newest piece. */
    grownEvent: s.lastMapped[row],
    stackKind: stackKind(s.stack[row], mappedEvent < 0),
    /** The user's line whose request made it. */
    frame: stacks.topUserFrameView(s.stack[row]),
  };
}
