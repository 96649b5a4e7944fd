/** Builds a device's profile for a comparison, in two passes over the allocations. */

import { failedOoms } from '../../allocator/replay/trace-events.ts';
import { perCounter } from '../../allocator/replay/types.ts';
import { getOrMake, memoized } from '../../base/memoized.ts';
import { classify } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { functionText } from '../../device/model/frame-text.ts';
import { keepOnlyFrames, pythonFrameMask } from '../../device/model/stacks.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type FileInfo,
  type StackIndex,
  type StackTable,
} from '../../format/snapshot/tables.ts';
import { accountAt } from '../account/account.ts';
import type { EntryKind } from '../account/types.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type {
  Moment,
  RunProfile,
  SideEntry,
  SideFrame,
  SideSite,
  SideStacks,
  StackRun,
} from './run-profile.ts';

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
  runs?: readonly StackRun[];
  stepBounds?: Int32Array;
}

const keptParts = new WeakMap<DeviceModel, KeptParts>();

/** A device at one moment of its recording. The first call for a device does the work that later calls reuse. */
export function buildProfile(
  device: DeviceModel,
  { file, deviceIndex, at }: ProfileOptions,
): RunProfile {
  const { trace, replay, snapshot } = device;
  const event = at === 'end' ? trace.events.length - 1 : replay.peaks.allocatedBytes.event;
  const parts: KeptParts = keptParts.get(device) ?? {
    analysis: new AnalysisInput(device),
    tree: new StackTree(device),
  };
  keptParts.set(device, parts);
  const { analysis, tree } = parts;
  const sites = sitesAt(device, tree, event);
  parts.runs ??= stackRuns(device, tree);
  parts.stepBounds ??= analysis.findPrimarySteps()?.bounds ?? new Int32Array(0);
  return {
    file,
    deviceIndex,
    device: trace.device,
    kind: trace.kind,
    event,
    events: trace.events.length,
    counters: replay.countersAt(event),
    peak: perCounter((name) => replay.peaks[name].bytes),
    recording: replay.recording,
    settings: snapshot.settings,
    ooms: failedOoms(trace, replay).length,
    ...tree.finish(),
    sites,
    entries: entriesAt(device, analysis, event),
    runs: parts.runs,
    stepBounds: parts.stepBounds,
  };
}

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
  const { allocatedBytes } = replay.countersAt(event);
  const bytes = allocatedBytes - account.allocatedBytes;
  if (bytes === 0) return own;
  const rest = { bytes, count: 1, rate: undefined, isGrowing: false, lines: [] };
  return [...own, { kind: 'unaccounted', ...rest }];
}

function sitesAt(device: DeviceModel, tree: StackTree, event: EventIndex): SideSite[] {
  const { replay } = device;
  const { allocations: table } = replay;
  const { classOf } = classify(device);
  const sums = new Map<string, SiteSum>();
  let rounding = 0;
  let rounded = 0;
  let total = 0;
  const add = (id: number, stack: number, className: string, bytes: number) => {
    const key = `${stack} ${className}`;
    const sum = sums.get(key) ?? { stack, class: className, example: id, bySize: new Map() };
    sums.set(key, sum);
    sum.bySize.set(bytes, (sum.bySize.get(bytes) ?? 0) + 1);
  };
  for (let id = 0; id < table.length && table.start[id] <= event; id++) {
    // Allocated bytes drop when the free is requested, not when it completes.
    if (Math.min(table.freeRequested[id], table.end[id]) <= event) continue;
    const size = table.sizeBytes[id];
    total += size;
    if (id < table.preexisting && table.stack[id] <= EMPTY_STACK) {
      add(id, -1, 'before-recording', size);
      continue;
    }
    const requested = Number.isNaN(table.requestedBytes[id]) ? size : table.requestedBytes[id];
    if (size !== requested) rounded++;
    rounding += size - requested;
    add(id, tree.rowOf(table.stack[id]), MEMORY_CLASSES[classOf[id]].id, requested);
  }
  const rest = replay.countersAt(event).allocatedBytes - total;
  return [
    ...Array.from(sums.values(), siteOf),
    ...restSite('rounding', rounding, rounded),
    ...restSite('unaccounted', rest, 1),
  ];
}

const NOT_ALLOCATED: ReadonlySet<EntryKind> = new Set(['pending-free', 'gaps', 'cached']);

const frameOf = ({ name, filename, line, kind }: SideFrame): SideFrame => ({
  ...{ name, filename, line, kind },
});

const restSite = (name: string, bytes: number, count: number): SideSite[] =>
  bytes === 0 ? [] : [{ stack: -1, class: name, bytes, count, sizes: [], example: -1 }];

interface SiteSum extends Pick<SideSite, 'stack' | 'class' | 'example'> {
  readonly bySize: Map<number, number>;
}

function siteOf({ bySize, ...site }: SiteSum): SideSite {
  const sizes = Array.from(bySize, ([bytes, count]) => ({ bytes, count }));
  sizes.sort((a, b) => a.bytes - b.bytes);
  return {
    ...site,
    bytes: sizes.reduce((sum, { bytes, count }) => sum + bytes * count, 0),
    count: sizes.reduce((sum, { count }) => sum + count, 0),
    sizes,
  };
}

/**
 * The Python frames of all stacks as a tree of their own, plus a row for each name of a stack without Python, such as
 * 'AddmmBackward0 (backward pass)'. A recording without any Python keeps its C++ frames.
 */
class StackTree {
  readonly #context: DeviceModel;
  readonly #rowOf: Int32Array | undefined;
  readonly #hasCpp: boolean;
  readonly #frames: SideFrame[] = [];
  readonly #frame: number[] = [];
  readonly #parent: number[] = [];
  /** Rows of stacks without Python, by name. */
  readonly #named = new Map<string, number>();

  constructor(context: DeviceModel) {
    this.#context = context;
    const { snapshot, stacks: reader } = context;
    const isPython = pythonFrameMask(snapshot.frames.length, (frame) => reader.isPython(frame));
    this.#hasCpp = isPython.includes(0);
    const isMixed = this.#hasCpp && isPython.includes(1);
    const alone = isMixed ? keepOnlyFrames(snapshot.stacks, isPython) : undefined;
    this.#rowOf = alone?.rowOf;
    this.#addTree(alone?.stacks ?? snapshot.stacks);
  }

  rowOf(stack: StackIndex): number {
    if (stack <= EMPTY_STACK) return stack;
    const row = this.#rowOf === undefined ? stack : this.#rowOf[stack];
    return row === EMPTY_STACK ? this.#namedRow(stack) : row;
  }

  /** Includes everything requested so far. */
  finish(): { frames: readonly SideFrame[]; stacks: SideStacks; hasCpp: boolean } {
    const stacks = {
      length: this.#frame.length,
      frame: Int32Array.from(this.#frame),
      parent: Int32Array.from(this.#parent),
    };
    return { frames: this.#frames, stacks, hasCpp: this.#hasCpp };
  }

  #addTree(tree: StackTable): void {
    const frameRow = memoized((frame: number) => {
      if (frame < 0) return -1;
      return this.#frames.push(frameOf(this.#context.stacks.frame(frame))) - 1;
    });
    for (let row = 0; row < tree.length; row++) {
      this.#frame.push(frameRow(tree.frame[row]));
      this.#parent.push(tree.parent[row]);
    }
  }

  #namedRow(stack: StackIndex): number {
    const view = this.#context.stacks.topUserFrameView(stack);
    if (view === undefined) return EMPTY_STACK;
    const name = functionText(view);
    return getOrMake(this.#named, name, () => {
      this.#frame.push(this.#frames.push({ name, filename: '', line: 0, kind: 'cpp' }) - 1);
      return this.#parent.push(EMPTY_STACK) - 1;
    });
  }
}

function stackRuns({ replay, trace }: DeviceModel, tree: StackTree): StackRun[] {
  const { allocations: table } = replay;
  const events = trace.events.length;
  const byRow = new Map<number, RunSum>();
  const sumOf = memoized((own: StackIndex) => {
    const stack = tree.rowOf(own);
    return getOrMake(byRow, stack, () => ({ stack, allocations: 0, totalBytes: 0, lifetimes: 0 }));
  });
  let stack = Number.NaN;
  let sum: RunSum | undefined;
  for (let id = 0; id < table.length; id++) {
    if (table.stack[id] !== stack || sum === undefined) {
      stack = table.stack[id];
      sum = sumOf(stack);
    }
    const lived = Math.min(events, table.end[id]) - Math.max(0, table.start[id]);
    sum.allocations++;
    sum.totalBytes += table.sizeBytes[id];
    sum.lifetimes += events === 0 ? 0 : lived / events;
  }
  return Array.from(byRow.values(), ({ lifetimes, ...run }) => ({
    ...run,
    lifetimeShare: lifetimes / run.allocations,
  }));
}

interface RunSum {
  readonly stack: number;
  allocations: number;
  totalBytes: number;
  lifetimes: number;
}
