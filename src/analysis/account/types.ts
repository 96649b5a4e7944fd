/**
 * The account of a device at one moment: every reserved byte in exactly one entry.
 *
 *     reserved = model + gradients + optimizer state + activations + … + kept + gaps + cached
 *
 * An entry's bytes are those of blocks, as allocated_bytes counts them, so they are the figures of the legend and of
 * `class:` searches too.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { ClassTotal } from '../../device/classes/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

const ENTRIES = {
  parameters: 'parameters and buffers',
  'second-model': 'a second copy of the model',
  gradients: 'gradients',
  'optimizer-state': 'optimizer state',
  activations: 'activations',
  temporaries: 'temporaries',
  inputs: 'inputs',
  communication: 'communication buffers',
  workspaces: 'workspaces',
  'kv-cache': 'KV cache',
  kept: 'kept tensors',
  'kept-graph': 'kept autograd graphs',
  growing: 'a tensor replaced by larger ones',
  unknown: 'unknown',
  'pending-free': 'freed, waiting for a stream',
  gaps: 'gaps between blocks',
  cached: 'cached segments',
} as const;

export type EntryKind = keyof typeof ENTRIES;
/** 'optimizer state', for people. */
export const entryLabel = (kind: EntryKind): string => ENTRIES[kind];

/** How an entry adds up, repetition by repetition. */
export interface EntryRate {
  /** Mean bytes that one repetition leaves behind. */
  readonly bytes: number;
  /** Repetitions seen. */
  readonly steps: number;
  /** What repeats: 'step', 'iteration in estimate_loss'. */
  readonly unit: string;
}

export interface AccountEntry {
  readonly kind: EntryKind;
  readonly bytes: number;
  /** Blocks; of gaps and cached segments: free ranges. */
  readonly count: number;
  /** Lines of the user's, the one to look at first, then who calls it. Empty where no line is known. */
  readonly lines: readonly FrameView[];
  /** Who holds most of it, where the recording has names: '`losses`, a list of 60 (train.py:301)'. */
  readonly holder: string | undefined;
  /** Of what is kept or replaced by larger ones, where repetitions are known. */
  readonly rate: EntryRate | undefined;
  /** Whether it was still being added to when the moment came. */
  readonly isGrowing: boolean;
  /** The highest allocated bytes of the run, had this and all that the same lines kept never been there; where it was counted. */
  readonly peakWithoutBytes: number | undefined;
  /** The classes of its blocks, where they are not what the entry is called: the legend counts them there. */
  readonly classes: readonly ClassTotal[];
  /** The largest first; of gaps and cached segments none. */
  readonly allocations: readonly AllocationIndex[];
}

/** 'oom': the one that ended the program; 'peak': of allocated bytes; 'end': the state of the dump; 'cursor': any other. */
export type MomentWhy = 'oom' | 'peak' | 'end' | 'cursor';

export interface Account {
  /** The state after `event`; -1 is the state before the first. */
  readonly moment: { readonly event: EventIndex; readonly why: MomentWhy };
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** What the process could reserve at most, where an OOM shows it. */
  readonly limitBytes: number | undefined;
  /** At an OOM: what was asked for. */
  readonly requestedBytes: number | undefined;
  /** Part of the entries' bytes: blocks are larger than what was asked for. Undefined where that is not recorded. */
  readonly roundingBytes: number | undefined;
  /** The largest first; they add up to `reservedBytes`. */
  readonly entries: readonly AccountEntry[];
}
