/** What several detectors share, computed once on first use. */

import { eventsOf } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { classify } from '../../device/classes/classify.ts';
import { type Classification, MemoryClass } from '../../device/classes/types.ts';
import { type AllocationOwners, allocationOwners } from '../../device/model/holders.ts';
import { pythonFrameMask, pythonTree, StackReader } from '../../device/model/stacks.ts';
import type { FrameView } from '../../device/model/types.ts';
import { usedPools } from '../../device/serving/pools.ts';
import { isServer } from '../../device/serving/serving-lens.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type StackIndex,
  type TraceAction,
} from '../../format/snapshot/tables.ts';
import { detectSteps } from '../steps/detect-steps.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import { StackClassifier } from './stack-classifier.ts';
import type { DeviceTables } from './types.ts';

export class AnalysisInput {
  readonly input: DeviceTables;
  /** Includes the C++ frames that `input` omits. */
  readonly #recorded: DeviceTables;
  #stepSequences: readonly StepSequence[] | undefined;
  readonly #made = new Map<unknown, unknown>();
  readonly #findOwners = () => this.#recorded.owners ?? allocationOwners(this.#recorded);

  constructor(input: DeviceTables) {
    this.#recorded = input;
    this.input = withPythonStacks(input);
  }

  /** Computes `make(this)` once per device. Pass a module-level function, not a new closure. */
  once<T>(make: (context: AnalysisInput) => T): T {
    if (!this.#made.has(make)) this.#made.set(make, make(this));
    return this.#made.get(make) as T;
  }

  get classifier(): StackClassifier {
    return this.once(classifierOf);
  }

  get classification(): Classification {
    return this.#recorded.classification ?? classify(this.#recorded);
  }

  /**
   * Whether the program is a server then, so that nothing about training helps it. Training may sample from its model
   * before its first backward pass, but has no cache left when it trains.
   */
  isServerAt(event: EventIndex): boolean {
    if (!this.once(servesOnly)) return false;
    const { trace, replay } = this.input;
    const { start, end } = replay.allocations;
    const isCache = (own: number, id: number) =>
      own === MemoryClass.GrowingState && start[id] <= event && end[id] > event;
    return usedPools({ trace, replay }).length > 0 || this.classification.classOf.some(isCache);
  }

  /** Who holds each allocation; undefined if the recording has no names. */
  get owners(): AllocationOwners | undefined {
    return this.once(this.#findOwners);
  }

  /**
   * The call site named by an allocation's C++ frames, such as 'AddmmBackward0 (backward pass)', for which `input` has
   * no stack. Undefined if no C++ frames were recorded.
   */
  nativeSiteOf(allocation: AllocationIndex): StackIndex | undefined {
    if (this.#recorded === this.input) return undefined;
    const stack = this.#recorded.replay.allocations.stack[allocation];
    return stack > EMPTY_STACK ? this.#recorded.stacks.siteOf(stack) : undefined;
  }

  /** @param site from `nativeSiteOf` */
  nativeFrame(site: StackIndex): FrameView | undefined {
    return this.#recorded.stacks.topUserFrameView(site);
  }

  /**
   * Whether a C++ function is on an event's stack.
   * @returns undefined if no C++ frames were recorded for it
   */
  hasNative(event: EventIndex, name: RegExp): boolean | undefined {
    if (this.#recorded === this.input) return undefined;
    const { stacks, trace } = this.#recorded;
    const frames = [...stacks.frames(trace.events.stack[event])];
    if (frames.every((frame) => stacks.isPython(frame))) return undefined;
    return frames.some((frame) => name.test(stacks.frame(frame).name));
  }

  /** How the program repeats itself, the most reliable first. */
  get stepSequences(): readonly StepSequence[] {
    this.#stepSequences ??= [...detectSteps(this)];
    return this.#stepSequences;
  }

  /** The first of {@link stepSequences}, without computing the others. */
  findPrimarySteps(): StepSequence | undefined {
    const [primary] = this.#stepSequences ?? detectSteps(this);
    return primary;
  }

  /**
   * Site of each allocation: its stack, or its size if there is none (backward threads). Otherwise everything that
   * backward does would be one site.
   */
  get sites(): Int32Array {
    return this.once(indexSites).sites;
  }

  get siteCount(): number {
    return this.once(indexSites).count;
  }

  eventsOf(action: TraceAction): EventIndex[] {
    return eventsOf(this.input.trace.events, action);
  }

  get isTraining(): boolean {
    return this.once(runsBackward);
  }

  get hasTrace(): boolean {
    return this.input.trace.events.length > 0;
  }
}

const servesOnly = ({ input, classification }: AnalysisInput) => isServer(input, classification);

const classifierOf = ({ input }: AnalysisInput) => new StackClassifier(input);

function indexSites({ input: { replay, snapshot } }: AnalysisInput) {
  const { stack, requestedBytes } = replay.allocations;
  const bySize = new Map<number, number>();
  const sites = stack.map((own, id) => {
    if (own > EMPTY_STACK) return own;
    const bytes = requestedBytes[id];
    const site = bySize.get(bytes) ?? snapshot.stacks.length + bySize.size;
    bySize.set(bytes, site);
    return site;
  });
  return { sites, count: snapshot.stacks.length + bySize.size };
}

function runsBackward({ input, classifier }: AnalysisInput): boolean {
  const { stack, preexisting } = input.replay.allocations;
  return [...new Set(stack.subarray(preexisting))].some((site) => classifier.isBackward(site));
}

/**
 * A recording's call stacks with Python frames only, as if recorded with `stacks="python"`.
 *
 * By default PyTorch records C++ frames too (`stacks="all"`). One line of Python then has many stacks, one for each
 * path through the dispatcher, and a backward thread, which runs no Python, has a C++ stack:
 *
 *     train.py:21 step                    train.py:21 step
 *     ├ nn/linear.py:125 forward          └ nn/linear.py:125 forward     one row for both
 *     │ └ at::addmm                ───→
 *     └ nn/linear.py:125 forward          (empty stack)                  of the backward thread
 *       └ at::empty
 *     AddmmBackward0::apply
 *
 * The detectors compare call sites, so they read these rows and give the same findings for both kinds of recording.
 */
export function withPythonStacks(input: DeviceTables): DeviceTables {
  const isPython = pythonFrameMask(input.snapshot.frames.length, (frame) =>
    input.stacks.isPython(frame),
  );
  // A recording without any Python frame (a libtorch program) keeps its C++ frames.
  if (!isPython.includes(1) || !isPython.includes(0)) return input;
  const { stacks, rowOf } = pythonTree(input.snapshot.stacks, isPython);
  const mapped = <T extends { readonly stack: Int32Array }>(table: T): T => ({
    ...table,
    stack: table.stack.map((stack) => (stack > EMPTY_STACK ? rowOf[stack] : stack)),
  });
  const snapshot = { ...input.snapshot, stacks };
  const { trace, replay } = input;
  return {
    snapshot,
    stacks: new StackReader(snapshot),
    trace: {
      ...trace,
      events: mapped(trace.events),
      segments: mapped(trace.segments),
      blocks: mapped(trace.blocks),
    },
    replay: {
      ...replay,
      allocations: mapped(replay.allocations),
      segmentSpans: mapped(replay.segmentSpans),
    },
  };
}
