/** Builds a device's profile for a comparison, in two passes over the allocations. */

import { failedOoms } from '../../allocator/replay/trace-events.ts';
import { perCounter } from '../../allocator/replay/types.ts';
import { addUp, memoized, sumBy } from '../../base/collections.ts';
import { classify } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { functionText } from '../../device/model/frame-text.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type FileInfo,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { accountAt } from '../account/account.ts';
import type { EntryKind } from '../account/types.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type { Moment, RunProfile, SideEntry, SideFrame, SideSite, StackRun } from './types.ts';

export interface ProfileOptions {
  readonly file: FileInfo;
  /** Position of the device in the file. */
  readonly deviceIndex: number;
  readonly at: Moment;
}

/** What stays the same at every moment of the recording. */
interface KeptParts {
  readonly analysis: AnalysisInput;
  readonly tree: StackTree;
  readonly runs: readonly StackRun[];
  readonly stepBounds: Int32Array;
}

const keptParts = new WeakMap<DeviceModel, KeptParts>();

function partsOf(device: DeviceModel): KeptParts {
  const analysis = new AnalysisInput(device);
  const tree = stackTree(device, analysis);
  const stepBounds = analysis.findPrimarySteps()?.bounds ?? new Int32Array(0);
  return { analysis, tree, runs: stackRuns(device, tree), stepBounds };
}

/** A device at one moment of its recording. The first call for a device does the work that later calls reuse. */
export function buildProfile(
  device: DeviceModel,
  { file, deviceIndex, at }: ProfileOptions,
): RunProfile {
  const { trace, replay, snapshot } = device;
  const event = at === 'end' ? trace.events.length - 1 : replay.peaks.allocatedBytes.event;
  const parts = keptParts.get(device) ?? partsOf(device);
  keptParts.set(device, parts);
  const { analysis, tree, runs, stepBounds } = parts;
  const { frames, stacks, hasCpp } = tree;
  return {
    ...{ file, deviceIndex, event, frames, stacks, hasCpp, runs, stepBounds },
    device: trace.device,
    kind: trace.kind,
    events: trace.events.length,
    counters: replay.countersAt(event),
    peak: perCounter((name) => replay.peaks[name].bytes),
    recording: replay.recording,
    settings: snapshot.settings,
    ooms: failedOoms(trace, replay).length,
    sites: sitesAt(device, tree, event),
    entries: entriesAt(device, analysis, event),
  };
}

const NOT_ALLOCATED: ReadonlySet<EntryKind> = new Set(['pending-free', 'gaps', 'cached']);

function entriesAt(
  { replay }: DeviceModel,
  analysis: AnalysisInput,
  event: EventIndex,
): SideEntry[] {
  const account = accountAt(analysis, event, 'peak');
  const own = account.entries
    .filter(({ kind }) => !NOT_ALLOCATED.has(kind))
    .map(({ kind, bytes, count, rate, isGrowing, lines }) => ({
      ...{ kind, bytes, count, rate, isGrowing },
      lines: lines.map(frameOf),
    }));
  const bytes = replay.countersAt(event).allocatedBytes - account.allocatedBytes;
  if (bytes === 0) return own;
  const rest = { bytes, count: 1, rate: undefined, isGrowing: false, lines: [] };
  return [...own, { kind: 'unaccounted', ...rest }];
}

function sitesAt(device: DeviceModel, tree: StackTree, event: EventIndex): SideSite[] {
  const { replay } = device;
  const { allocations: table } = replay;
  const { classOf } = classify(device);
  const sums = new Map<
    string,
    Pick<SideSite, 'stack' | 'class' | 'example'> & { readonly bySize: Map<number, number> }
  >();
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
    const stack = isOld ? -1 : tree.rowOf(id);
    const own = isOld ? 'before-recording' : MEMORY_CLASSES[classOf[id]].id;
    const key = `${stack} ${own}`;
    const sum = sums.get(key) ?? { stack, class: own, example: id, bySize: new Map() };
    if (sum.example === id) sums.set(key, sum);
    addUp(sum.bySize, requested, 1);
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

interface StackTree extends Pick<RunProfile, 'frames' | 'stacks' | 'hasCpp'> {
  /** The row of an allocation; 0 or -1 if it has no stack. */
  rowOf(id: number): number;
}

/**
 * The Python frames of all stacks as a tree of their own, plus a row for each name of a stack without Python, such as
 * 'AddmmBackward0 (backward pass)'. A recording without any Python keeps its C++ frames.
 */
function stackTree({ snapshot, stacks: reader }: DeviceModel, analysis: AnalysisInput): StackTree {
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
    rowOf: (id) => rowOf[id],
  };
}

function stackRuns({ replay, trace }: DeviceModel, { rowOf }: StackTree): StackRun[] {
  const { allocations: table } = replay;
  const events = trace.events.length;
  const byRow = new Map<number, { allocations: number; totalBytes: number; lifetimes: number }>();
  for (let id = 0; id < table.length; id++) {
    const row = rowOf(id);
    const sum = byRow.get(row) ?? { allocations: 0, totalBytes: 0, lifetimes: 0 };
    if (sum.allocations === 0) byRow.set(row, sum);
    const lived = Math.min(events, table.end[id]) - Math.max(0, table.start[id]);
    sum.allocations++;
    sum.totalBytes += table.sizeBytes[id];
    sum.lifetimes += events === 0 ? 0 : lived / events;
  }
  return Array.from(byRow, ([stack, { allocations, totalBytes, lifetimes }]) => ({
    ...{ stack, allocations, totalBytes },
    lifetimeShare: lifetimes / allocations,
  }));
}
