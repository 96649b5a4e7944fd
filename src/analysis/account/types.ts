/**
 * The account of a device at one moment: every reserved byte in exactly one entry.
 *
 *     reserved = model + gradients + optimizer state + activations + … + kept + gaps + cached + pools
 *
 * Entries count block bytes, as allocated_bytes does, so they match the legend and `class:` searches. What lies outside
 * the allocator is apart from that sum: see AccountCard.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import type { ClassTotal } from '../../device/classes/types.ts';
import type { CardSample } from '../../device/model/card.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

const ENTRIES = {
  parameters: 'parameters and buffers',
  'second-model': 'copies of the model',
  gradients: 'gradients',
  'optimizer-state': 'optimizer state',
  activations: 'activations',
  temporaries: 'temporaries',
  inputs: 'inputs',
  communication: 'communication buffers',
  workspaces: 'workspaces',
  'kv-cache': 'KV cache and growing state',
  kept: 'kept tensors',
  'kept-graph': 'kept autograd graphs',
  growing: 'tensors replaced by larger ones',
  unknown: 'unknown',
  'pending-free': 'freed, waiting for a stream',
  gaps: 'gaps between blocks',
  cached: 'empty segments',
  pools: 'free in private pools',
} as const;

export type EntryKind = keyof typeof ENTRIES;
/** Free memory belongs to no block: gaps and empty segments of the default pool, and all of private pools. */
export const isFree = (kind: EntryKind): boolean =>
  kind === 'gaps' || kind === 'cached' || kind === 'pools';
/** Cohorts: what one place in the program left behind. @param kind of an entry, or of what a comparison adds */
export const isKept = (kind: string): boolean => kind === 'kept' || kind === 'kept-graph';

/** 'optimizer state', for display. */
export const entryLabel = (kind: EntryKind): string => ENTRIES[kind];

export interface EntryRate {
  /** Mean bytes that one repetition leaves behind. */
  readonly bytes: number;
  readonly steps: number;
  /** What repeats: 'step', 'iteration in estimate_loss'. */
  readonly unit: string;
  /** Not every repetition adds about as much. */
  readonly isMean: boolean;
  /** The amounts differ so much that their mean does not tell what the next ones will be. */
  readonly varies: boolean;
  /** If only some repetitions add something: what one of them adds, and how many do. */
  readonly bursts?: { readonly bytes: number; readonly count: number } | undefined;
}

/** Fewer repetitions added something now and then: that is no rate. */
const MIN_RATE_STEPS = 3;
export const isRate = ({ steps }: Pick<EntryRate, 'steps'>): boolean => steps >= MIN_RATE_STEPS;

/**
 * '108.99 MiB more each step', 'on average …', '108.99 MiB more in each of 2 iterations in test', or '256.00 MiB more in
 * each of 9 of 270 steps'
 */
export function moreText(rate: EntryRate): string {
  const { bytes, steps, unit, isMean } = rate;
  const bursts = burstsText(rate, ' more');
  if (bursts !== undefined) return bursts;
  const times = steps === 1 ? `in one ${unit}` : `in each of ${unitsText(steps, unit)}`;
  return `${isMean ? 'on average ' : ''}${formatBytes(bytes)} more ${isRate(rate) ? `each ${unit}` : times}`;
}

/** '256.00 MiB in each of 9 of 270 steps'; undefined if each step adds something. */
export const burstsText = (
  { bursts, steps, unit }: Pick<EntryRate, 'bursts' | 'steps' | 'unit'>,
  more = '',
): string | undefined =>
  bursts &&
  `${formatBytes(bursts.bytes)}${more} in each of ${formatCount(bursts.count)} of ${unitsText(steps, unit)}`;

/** '2 iterations in test' */
function unitsText(steps: number, unit: string): string {
  const [noun = unit] = unit.split(' ');
  const many = noun.endsWith('ch') ? `${noun}es` : `${noun}s`;
  return `${plural(steps, noun, many)}${unit.slice(noun.length)}`;
}

export interface AccountEntry {
  readonly kind: EntryKind;
  readonly bytes: number;
  /** Blocks; of free memory, ranges. */
  readonly count: number;
  /** Only of tensors replaced by larger ones. */
  readonly replaced?: {
    /** A copy in progress and what it copies are one. */
    readonly tensors: number;
    /** Whether the largest has grown ever since its place made the first one. */
    readonly isOfWholeRun: boolean;
  };
  /** User lines: the one to look at first, then its callers. Empty if no line is known. */
  readonly lines: readonly FrameView[];
  /** Of other entries: gradients of these tensors, which go with them. */
  readonly gradientBytes: number;
  /** Of these lines, those that called the first. */
  readonly callers: readonly FrameView[];
  /** Of cohorts: ' and 2 other lines', if the first line allocated less than nearly all of it. */
  readonly besides: string;
  /** Who holds most of it, if the recording has names: '`losses`, a list of 60 (train.py:301)'. */
  readonly holder: string | undefined;
  /** Only for kept or replaced tensors with known repetitions. */
  readonly rate: EntryRate | undefined;
  /** Whether it was still growing at the moment. */
  readonly isGrowing: boolean;
  /**
   * If nothing had kept this, and all else kept by the same lines: the run's peak of allocated bytes, and how much of the
   * entry would be gone at the moment. Undefined if not counted.
   */
  readonly without: { readonly peakBytes: number; readonly goneBytes: number } | undefined;
  /** The classes of its blocks, if they differ from the entry's kind: the legend counts them there. */
  readonly classes: readonly ClassTotal[];
  /** The largest first; empty for free memory. */
  readonly allocations: readonly AllocationIndex[];
}

/**
 * 'oom': the one that ended the program; 'peak': of allocated bytes; 'end': of the recording; 'cursor': any other
 * event.
 */
export type MomentWhy = 'oom' | 'peak' | 'end' | 'cursor';

/** The whole card, near the account's moment: what the allocator of this process does not see. */
export interface AccountCard {
  /** Where its figures are from. Undefined without a ledger: then they are the OOM's own, and no total is known. */
  readonly sample: CardSample | undefined;
  /** How long before the account's moment the sample was taken; NaN if unknown. */
  readonly ageUs: number;
  /** Their bytes add up to the card's total at the sample; without one, only what the OOM says. */
  readonly rows: readonly LedgerRow[];
  /** What we can't tell and why, in sentences. */
  readonly unknown: readonly string[];
}

export interface Account {
  /** The state after `event`; -1 is the state before the first. */
  readonly moment: { readonly event: EventIndex; readonly why: MomentWhy };
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** What the process could reserve at least, if an OOM shows it. */
  readonly limitBytes: number | undefined;
  /** What was requested, if the moment is an OOM. */
  readonly requestedBytes: number | undefined;
  /** Bytes that blocks have beyond what was requested; part of the entries' bytes. Undefined if not recorded. */
  readonly roundingBytes: number | undefined;
  /** The largest first; their bytes add up to `reservedBytes`. */
  readonly entries: readonly AccountEntry[];
  /** Undefined without a ledger, unless the moment is an OOM. */
  readonly card: AccountCard | undefined;
}

/** Bytes of an account's entries of these kinds. */
export const sumOf = ({ entries }: Pick<Account, 'entries'>, kinds: readonly EntryKind[]): number =>
  entries.reduce((sum, { kind, bytes }) => (kinds.includes(kind) ? sum + bytes : sum), 0);

/** The allocations of an account's entries of these kinds. */
export const allocationsOf = (
  { entries }: Pick<Account, 'entries'>,
  kinds: readonly EntryKind[],
): AllocationIndex[] =>
  entries.flatMap(({ kind, allocations }) => (kinds.includes(kind) ? allocations : []));
