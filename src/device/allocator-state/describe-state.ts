/** What the page shows of a state: totals, the cache, and rows for the segments on screen. */

import { blockRules } from '../../allocator/replay/rounding.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import {
  cacheReleaseAt,
  type PinningBlock,
  type ReleaseSums,
} from '../../allocator/state/empty-cache.ts';
import type {
  AllocatorState,
  SegmentKind,
  SegmentStateIndex,
} from '../../allocator/state/types.ts';
import { groupBy } from '../../base/grouping.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { stackKind } from '../model/stacks.ts';
import type { FrameView, StackKind } from '../model/types.ts';
import {
  type GroupedSegments,
  type SegmentGroup,
  type SpaceTotals,
  segmentKind,
} from './segment-groups.ts';

export interface StateOverview {
  readonly event: EventIndex;
  readonly groups: readonly SegmentGroup[];
  readonly totals: SpaceTotals;
  readonly release: ReleaseSums;
  /** Lines whose blocks keep most free bytes from going back, the largest first. */
  readonly pinSites: readonly PinSite[];
  /** How many more there are, and what they keep. */
  readonly otherPinSites: number;
  readonly otherPinnedBytes: number;
}

/**
 * Live blocks of one line that keep free memory from going back: the user's own line where the stack
 * has one, so that the blocks of a loop are one site whatever PyTorch did below it.
 */
export interface PinSite {
  readonly stackKind: StackKind;
  readonly frame: FrameView | undefined;
  /** The one of its blocks that keeps most. */
  readonly allocation: AllocationIndex;
  readonly blocks: number;
  readonly segments: number;
  readonly keptBytes: number;
}

const MAX_PIN_SITES = 5;

export function stateOverview(
  context: DeviceModel,
  state: AllocatorState,
  { groups, totals }: GroupedSegments,
): StateOverview {
  const { pins, ...release } = cacheReleaseAt(
    state,
    context.trace.pools,
    blockRules(context.snapshot.settings).largeSegmentBytes,
  );
  const sites = pinSites(context, pins);
  const others = sites.slice(MAX_PIN_SITES);
  return {
    event: state.event,
    groups,
    totals,
    release,
    pinSites: sites.slice(0, MAX_PIN_SITES).map((site) => describeSite(context, site)),
    otherPinSites: others.length,
    otherPinnedBytes: Math.round(others.reduce((sum, { keptBytes }) => sum + keptBytes, 0)),
  };
}

type SitePins = Omit<PinSite, 'stackKind' | 'frame'>;

function pinSites(context: DeviceModel, pins: readonly PinningBlock[]): SitePins[] {
  const bySite = groupBy(pins, ({ allocation }) => siteOf(context, allocation));
  return [...bySite.values()]
    .map((own) => ({
      allocation: own.reduce((most, pin) => (pin.bytes > most.bytes ? pin : most)).allocation,
      // An expandable segment's block may keep bytes on both its sides.
      blocks: new Set(own.map((pin) => pin.allocation)).size,
      segments: new Set(own.map((pin) => pin.segment)).size,
      keptBytes: own.reduce((sum, pin) => sum + pin.bytes, 0),
    }))
    .sort((a, b) => b.keptBytes - a.keptBytes);
}

/** The frame to look at, or why there is none. */
function siteOf({ replay, stacks }: DeviceModel, allocation: AllocationIndex): string {
  const { stack, preexisting } = replay.allocations;
  const frame = stacks.topUserFrame(stack[allocation]);
  return frame === undefined
    ? stackKind(stack[allocation], allocation < preexisting)
    : `frame ${frame}`;
}

function describeSite({ replay, stacks }: DeviceModel, site: SitePins): PinSite {
  const { allocations } = replay;
  const stack = allocations.stack[site.allocation];
  return {
    ...site,
    keptBytes: Math.round(site.keptBytes),
    stackKind: stackKind(stack, site.allocation < allocations.preexisting),
    frame: stacks.topUserFrameView(stack),
  };
}

export interface SegmentRow {
  /** '7f064c000000' */
  readonly addressHex: string;
  readonly kind: SegmentKind;
  readonly sizeBytes: number;
  readonly allocatedBytes: number;
  readonly pendingBytes: number;
  readonly largestFreeBytes: number;
  /** Lost to rounding in live blocks; of `unknownBytes` of blocks it is not known. */
  readonly roundingBytes: number;
  readonly unknownBytes: number;
  readonly liveBlocks: number;
  /** Mapped pieces; 1 for a native segment. */
  readonly pieces: number;
  /** Event that brought it, its oldest piece where there are several; -1 is before the trace. */
  readonly mappedEvent: EventIndex;
  /** From then to the state's event; NaN without times and from before the trace. */
  readonly ageUs: number;
  /** Event that mapped its newest piece. */
  readonly grownEvent: EventIndex;
  readonly stackKind: StackKind;
  /** The user's line whose request made it. */
  readonly frame: FrameView | undefined;
}

export function segmentRow(
  { snapshot, trace, stacks }: DeviceModel,
  { event, segments: s }: AllocatorState,
  row: SegmentStateIndex,
): SegmentRow {
  const live = s.allocatedBytes[row] + s.pendingBytes[row];
  const mappedEvent = s.firstMapped[row];
  const { events } = trace;
  return {
    addressHex: snapshot.addresses.toHex(s.address[row]),
    kind: segmentKind(s, row),
    sizeBytes: s.sizeBytes[row],
    allocatedBytes: s.allocatedBytes[row],
    pendingBytes: s.pendingBytes[row],
    largestFreeBytes: s.largestFreeBytes[row],
    roundingBytes: live - s.requestedBytes[row] - s.unknownBytes[row],
    unknownBytes: s.unknownBytes[row],
    liveBlocks: s.liveBlocks[row],
    pieces: s.pieces[row],
    mappedEvent,
    ageUs: timeOfEventUs(events, event) - timeOfEventUs(events, mappedEvent),
    grownEvent: s.lastMapped[row],
    stackKind: stackKind(s.stack[row], mappedEvent < 0),
    frame: stacks.topUserFrameView(s.stack[row]),
  };
}
