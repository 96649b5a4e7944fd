/** From an open device to its side of a comparison: two passes over the allocations. */
import { getOrMake, memoized } from '../base/memoized.ts';
import { classify } from '../classes/classify.ts';
import { MEMORY_CLASSES } from '../classes/types.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { functionText } from '../device/frame-text.ts';
import { keepOnlyFrames, pythonFrameMask } from '../device/python-frames.ts';
import { AnalysisContext } from '../findings/analysis-context.ts';
import { failedOoms } from '../replay/retried-requests.ts';
import { type AllocationTable, COUNTER_NAMES, type Counters } from '../replay/types.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type FileInfo,
  type StackIndex,
  type StackTable,
} from '../snapshot/tables.ts';
import {
  type ComparisonSide,
  MOMENTS,
  type Moment,
  type SideFrame,
  type SideSite,
  type SideStacks,
  type StackRun,
} from './side.ts';

export interface SideOptions {
  readonly file: FileInfo;
  /** Position of the device in the file. */
  readonly deviceIndex: number;
  readonly at: Moment;
}

/** What stays the same wherever in the recording a device is looked at: make it once for each. */
export class SideMaker {
  readonly #context: DeviceContext;
  readonly #analysis: AnalysisContext;
  readonly #tree: StackTree;
  #runs: readonly StackRun[] | undefined;
  #stepBounds: Int32Array | undefined;

  constructor(context: DeviceContext) {
    this.#context = context;
    this.#analysis = new AnalysisContext(context);
    this.#tree = new StackTree(context);
  }

  side({ file, deviceIndex, at }: SideOptions): ComparisonSide {
    const { trace, replay, snapshot } = this.#context;
    const event = eventAt(this.#context, at);
    const sites = this.#sitesAt(event);
    this.#runs ??= stackRuns(this.#context, this.#tree);
    this.#stepBounds ??= this.#analysis.findPrimarySteps()?.bounds ?? new Int32Array(0);
    const peak = Object.fromEntries(COUNTER_NAMES.map((name) => [name, replay.peaks[name].bytes]));
    return {
      file,
      deviceIndex,
      device: trace.device,
      kind: trace.kind,
      event,
      events: trace.events.length,
      counters: replay.countersAt(event),
      peak: peak as Counters,
      end: replay.end,
      recording: replay.recording,
      recordingReason: replay.recordingReason,
      settings: snapshot.settings,
      warnings: snapshot.warnings.map(({ message }) => message),
      ooms: failedOoms(trace, replay).length,
      ...this.#tree.finish(),
      sites,
      runs: this.#runs,
      stepBounds: this.#stepBounds,
    };
  }

  #sitesAt(event: EventIndex): SideSite[] {
    const { replay } = this.#context;
    const { allocations: table } = replay;
    const { classOf } = classify(this.#context);
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
      // Allocated falls when the free is requested, and not when it is completed.
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
      add(id, this.#tree.rowOf(table.stack[id]), MEMORY_CLASSES[classOf[id]].id, requested);
    }
    const rest = replay.countersAt(event).allocatedBytes - total;
    return [
      ...Array.from(sums.values(), siteOf),
      ...restSite('rounding', rounding, rounded),
      ...restSite('unaccounted', rest, 1),
    ];
  }
}

const restSite = (name: string, bytes: number, count: number): SideSite[] =>
  bytes === 0 ? [] : [{ stack: -1, class: name, bytes, count, sizes: [], example: -1 }];

interface SiteSum extends Pick<SideSite, 'stack' | 'class' | 'example'> {
  /** Live allocations by their size. */
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

/** The peak is that of allocated bytes; an event beyond the end stands for the end. */
function eventAt({ trace, replay }: DeviceContext, at: Moment): EventIndex {
  const last = trace.events.length - 1;
  if (at === 'end') return last;
  return at === 'peak' ? replay.peaks.allocatedBytes.event : Math.min(Math.max(-1, at), last);
}

/**
 * Python's frames of all stacks as a tree of their own, and a row for each name of a stack without Python,
 * such as 'AddmmBackward0 (backward pass)'. Without any Python the C++ frames are all there is, and stay.
 */
class StackTree {
  readonly #context: DeviceContext;
  readonly #rowOf: Int32Array | undefined;
  readonly #hasCpp: boolean;
  readonly #frames: SideFrame[] = [];
  readonly #frame: number[] = [];
  readonly #parent: number[] = [];
  /** Rows of stacks without Python, by their name. */
  readonly #named = new Map<string, number>();

  constructor(context: DeviceContext) {
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

  /** All that has been asked for so far is in it. */
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
      const { name, filename, line, kind } = this.#context.stacks.frame(frame);
      return this.#frames.push({ name, filename, line, kind }) - 1;
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

/** One pass over all allocations, and a difference array for the moments in between. */
function stackRuns({ replay, trace }: DeviceContext, tree: StackTree): StackRun[] {
  const { allocations: table } = replay;
  const events = trace.events.length;
  const byRow = new Map<number, RunSum>();
  const sumOf = memoized((own: StackIndex) => {
    const row = tree.rowOf(own);
    return getOrMake(byRow, row, () => emptyRun(row));
  });
  const momentOf = (event: number) => Math.ceil(((event + 1) * MOMENTS) / Math.max(1, events)) - 1;
  let stack = Number.NaN;
  let sum: RunSum | undefined;
  for (let id = 0; id < table.length; id++) {
    if (table.stack[id] !== stack || sum === undefined) {
      stack = table.stack[id];
      sum = sumOf(stack);
    }
    addLife(sum, table, id, events, momentOf);
  }
  return Array.from(byRow.values(), finishRun);
}

interface RunSum {
  readonly stack: number;
  allocations: number;
  totalBytes: number;
  lifetimes: number;
  endBytes: number;
  /** Difference array: how many more are live than at the moment before. */
  readonly change: Float64Array;
}

const emptyRun = (stack: number): RunSum => ({
  stack,
  allocations: 0,
  totalBytes: 0,
  lifetimes: 0,
  endBytes: 0,
  change: new Float64Array(MOMENTS + 1),
});

function addLife(
  sum: RunSum,
  { start, end, sizeBytes }: AllocationTable,
  id: number,
  events: number,
  momentOf: (event: number) => number,
): void {
  const from = Math.max(0, start[id]);
  const to = Math.min(events, end[id]);
  sum.allocations++;
  sum.totalBytes += sizeBytes[id];
  sum.lifetimes += events === 0 ? 0 : (to - from) / events;
  if (to === events) sum.endBytes += sizeBytes[id];
  sum.change[Math.max(0, momentOf(from))]++;
  sum.change[Math.min(MOMENTS, to === events ? MOMENTS : Math.max(0, momentOf(to)))]--;
}

function finishRun({ lifetimes, change, ...run }: RunSum): StackRun {
  const liveAt: number[] = [];
  let live = 0;
  for (let moment = 0; moment < MOMENTS; moment++) {
    live += change[moment];
    liveAt.push(live);
  }
  return { ...run, lifetimeShare: lifetimes / run.allocations, liveAt };
}
