/** Builds a device's profile for a comparison, in two passes over the allocations. */

import { perCounter } from '../../allocator/replay/types.ts';
import { addUp, getOrMake, memoized, sumBy, weakMemoized } from '../../base/collections.ts';
import { classify } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import { cardAt, cardHistory } from '../../device/model/card.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { functionText } from '../../device/model/frame-text.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type FileInfo,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { accountAt } from '../account/account.ts';
import { seenOoms } from '../account/moment.ts';
import { type EntryKind, isFree } from '../account/types.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type { Moment, SideFrame } from './types.ts';

export interface ProfileOptions {
  readonly file: FileInfo;
  readonly deviceIndex: number;
  readonly at: Moment;
}

/** What stays the same at every moment of the recording. */
const partsOf = weakMemoized((device: DeviceModel) => {
  const analysis = new AnalysisInput(device);
  const tree = stackTree(device, analysis);
  /** The event before the first step, then the last event of each step; empty if no steps are known. */
  const stepBounds = analysis.findPrimarySteps()?.bounds ?? new Int32Array(0);
  return { analysis, tree, runs: stackRuns(device, tree), stepBounds };
});

/** A device at one moment of its recording. The first call for a device does the work that later calls reuse. */
export function buildProfile(device: DeviceModel, { file, deviceIndex, at }: ProfileOptions) {
  const { trace, replay, snapshot } = device;
  const event = at === 'end' ? trace.events.length - 1 : replay.peaks.allocatedBytes.event;
  const { analysis, tree, runs, stepBounds } = partsOf(device);
  const { frames, stacks, hasCpp } = tree;
  const history = cardHistory(device);
  return {
    /** `event` is -1 for the state before the first event. */
    ...{ file, deviceIndex, event, frames, stacks, hasCpp, runs, stepBounds },
    /** PyTorch's number. */
    device: trace.device,
    kind: trace.kind,
    accelerator: trace.accelerator,
    events: trace.events.length,
    counters: replay.countersAt(event),
    peak: perCounter((name) => replay.peaks[name].bytes),
    recording: replay.recording,
    settings: snapshot.settings,
    ooms: seenOoms(analysis).length,
    sites: sitesAt(device, tree, event),
    entries: entriesAt(device, analysis, event),
    /** The whole card then, if a ledger was recorded. */
    card: history && cardAt(history, event, at),
  };
}

/** The account's parts of the allocated bytes. 'unaccounted': the rest, if the events contradict each other. */
function entriesAt({ replay }: DeviceModel, analysis: AnalysisInput, event: EventIndex) {
  const account = accountAt(analysis, event, 'peak');
  const own = account.entries
    .filter(({ kind }) => kind !== 'pending-free' && !isFree(kind))
    .map(({ kind, bytes, count, rate, isGrowing, lines }) => ({
      ...{ kind: kind as EntryKind | 'unaccounted', bytes, count, rate, isGrowing },
      lines: lines.map(frameOf),
    }));
  const bytes = replay.countersAt(event).allocatedBytes - account.allocatedBytes;
  if (bytes === 0) return own;
  const rest = { bytes, count: 1, rate: undefined, isGrowing: false, lines: [] };
  return [...own, { kind: 'unaccounted' as const, ...rest }];
}

export interface SideSite {
  /** Row in the stacks; 0 or -1 if there is none. */
  readonly stack: number;
  /**
   * A class of memory, or a part of the sum without a call site: 'rounding', 'before-recording', or 'unaccounted' if
   * the events contradict each other.
   */
  readonly class: string;
  /** Requested bytes; rounding is a separate part. */
  readonly bytes: number;
  readonly count: number;
  readonly sizes: readonly { readonly bytes: number; readonly count: number }[];
  /** One of its allocations, by AllocationIndex; -1 if it has none. */
  readonly example: number;
}

/** Their bytes add up to the allocated bytes. */
function sitesAt(device: DeviceModel, tree: StackTree, event: EventIndex): SideSite[] {
  const { replay } = device;
  const { allocations: table } = replay;
  const { classOf } = classify(device);
  type Sum = Pick<SideSite, 'stack' | 'class' | 'example'> & { bySize: Map<number, number> };
  const sums = new Map<string, Sum>();
  let [rounding, rounded, total] = [0, 0, 0];
  for (let id = 0; id < table.length && table.start[id] <= event; id++) {
    // Allocated bytes drop when the free is requested, not when it completes.
    if (Math.min(table.freeRequested[id], table.end[id]) <= event) continue;
    const size = table.sizeBytes[id];
    total += size;
    const isOld = id < table.preexisting && table.stack[id] <= EMPTY_STACK;
    const isExact = isOld || Number.isNaN(table.requestedBytes[id]);
    const requested = isExact ? size : table.requestedBytes[id];
    if (size !== requested) rounded++;
    rounding += size - requested;
    const stack = isOld ? -1 : tree.rowOf[id];
    const own = isOld ? 'before-recording' : MEMORY_CLASSES[classOf[id]].id;
    const none = () => ({ stack, class: own, example: id, bySize: new Map<number, number>() });
    addUp(getOrMake(sums, `${stack} ${own}`, none).bySize, requested, 1);
  }
  const rest = replay.countersAt(event).allocatedBytes - total;
  return [
    ...Array.from(sums.values(), ({ bySize, ...site }): SideSite => {
      const sizes = Array.from(bySize, ([bytes, count]) => ({ bytes, count }));
      return {
        ...site,
        bytes: sumBy(sizes, ({ bytes, count }) => bytes * count),
        count: sumBy(sizes, ({ count }) => count),
        sizes: sizes.sort((a, b) => a.bytes - b.bytes),
      };
    }),
    ...restSite('rounding', rounding, rounded),
    ...restSite('unaccounted', rest, 1),
  ];
}

const restSite = (name: string, bytes: number, count: number): SideSite[] =>
  bytes === 0 ? [] : [{ stack: -1, class: name, bytes, count, sizes: [], example: -1 }];

const frameOf = ({ name, filename, line, kind }: SideFrame): SideFrame => ({
  ...{ name, filename, line, kind },
});

type StackTree = ReturnType<typeof stackTree>;

/**
 * The Python frames of all stacks as a tree of their own, plus a row for each name of a stack without Python, such as
 * 'AddmmBackward0 (backward pass)'. A recording without any Python keeps its C++ frames.
 */
function stackTree({ snapshot, stacks: reader }: DeviceModel, analysis: AnalysisInput) {
  const { stacks: tree } = analysis.input.snapshot;
  const { stack: rows } = analysis.input.replay.allocations;
  const frames: SideFrame[] = [];
  const frameRow = memoized((frame: number) =>
    frame < 0 ? -1 : frames.push(frameOf(reader.frame(frame))) - 1,
  );
  const frame = Array.from(tree.frame.subarray(0, tree.length), frameRow);
  const parent = Array.from(tree.parent.subarray(0, tree.length));
  const namedRow = memoized((site: StackIndex) => {
    const view = analysis.nativeFrame(site);
    if (view === undefined) return EMPTY_STACK;
    const named = { name: functionText(view), filename: '', line: 0, kind: 'cpp' } as const;
    frame.push(frames.push(named) - 1);
    return parent.push(EMPTY_STACK) - 1;
  });
  const rowOf = rows.map((row, id) => {
    const site = row === EMPTY_STACK ? analysis.nativeSiteOf(id) : undefined;
    return site === undefined ? row : namedRow(site);
  });
  return {
    frames,
    stacks: {
      length: frame.length,
      frame: Int32Array.from(frame),
      parent: Int32Array.from(parent),
    },
    hasCpp: Array.from({ length: snapshot.frames.length }).some((_, at) => !reader.isPython(at)),
    /** By allocation; 0 or -1 if it has no stack. */
    rowOf,
  };
}

function stackRuns({ replay, trace }: DeviceModel, { rowOf }: StackTree) {
  const { allocations: table } = replay;
  const events = trace.events.length;
  const none = () => ({ allocations: 0, totalBytes: 0, lifetimes: 0 });
  const byRow = new Map<number, { allocations: number; totalBytes: number; lifetimes: number }>();
  for (let id = 0; id < table.length; id++) {
    const sum = getOrMake(byRow, rowOf[id], none);
    const lived = Math.min(events, table.end[id]) - Math.max(0, table.start[id]);
    sum.allocations++;
    sum.totalBytes += table.sizeBytes[id];
    sum.lifetimes += events === 0 ? 0 : lived / events;
  }
  return Array.from(byRow, ([stack, { allocations, totalBytes, lifetimes }]) => ({
    ...{ stack, allocations, totalBytes },
    /** Mean lifetime, as a share of the recording's events. */
    lifetimeShare: lifetimes / allocations,
  }));
}
