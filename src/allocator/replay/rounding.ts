/** Rounds sizes as c10/cuda/CUDACachingAllocator.cpp does. */
import type { SettingValue } from '../../format/snapshot/tables.ts';

/** kMinBlockSize: every block is a multiple of it. */
export const MIN_BLOCK_BYTES = 512;
/** kSmallSize: rounded requests up to this size use the small pool. */
export const SMALL_BYTES = 2 ** 20;
/** kSmallBuffer: size of a native segment of the small pool. */
export const SMALL_SEGMENT_BYTES = 2 * 2 ** 20;
/** Default of large_segment_size_mb: a segment for requests of 1 to 10 MiB, and a large expandable page. */
export const DEFAULT_LARGE_SEGMENT_BYTES = 20 * 2 ** 20;

const LOG2_MIB = 20;
/** Size intervals of roundup_power2_divisions: 1 MiB and below, 2 MiB, … 32 GiB and above. */
const INTERVALS = 16;

/** What a snapshot's settings say about rounding and splitting. */
export interface BlockRules {
  /** Divisions of the interval between two powers of two, by log2 of the size in MiB; 0 or 1 means none. */
  readonly divisions: readonly number[];
  /** Some interval has divisions. Otherwise sizes are only rounded up to 512 bytes. */
  readonly hasDivisions: boolean;
  /** Blocks of this size and more are never split. */
  readonly maxSplitBytes: number;
  readonly largeSegmentBytes: number;
}

/** The settings text that the program was given; '' is the default, also for a file without settings. */
export function confText(settings: Readonly<Record<string, SettingValue>>): string {
  const text = settings.PYTORCH_ALLOC_CONF ?? settings.PYTORCH_CUDA_ALLOC_CONF;
  return typeof text === 'string' ? text : '';
}

/** PyTorch 2.11 reads large_segment_size_mb but does not list it, so take it from the text. */
function largeSegmentBytes(settings: Readonly<Record<string, SettingValue>>): number {
  const sizes = [...confText(settings).matchAll(/(?:^|[\s,])large_segment_size_mb\s*:\s*(\d+)/g)];
  const last = sizes.at(-1);
  return last === undefined ? DEFAULT_LARGE_SEGMENT_BYTES : Number(last[1]) * 2 ** 20;
}

/** From a snapshot's `allocator_settings`, with PyTorch's defaults for missing ones. */
export function blockRules(settings: Readonly<Record<string, SettingValue>>): BlockRules {
  const divisions = settings.roundup_power2_divisions;
  const maxSplit = settings.max_split_size;
  const byInterval = Array.from({ length: INTERVALS }, (_, i) =>
    typeof divisions === 'object' ? (divisions[String(2 ** i)] ?? 0) : 0,
  );
  return {
    divisions: byInterval,
    hasDivisions: byInterval.some((count) => count > 1),
    maxSplitBytes: typeof maxSplit === 'number' && maxSplit > 0 ? maxSplit : Infinity,
    largeSegmentBytes: largeSegmentBytes(settings),
  };
}

/**
 * round_size: bytes of the block for a request of `bytes`. 1 → 512, 513 → 1024. With 8 divisions, 5 MiB + 1 → 5.5 MiB
 * (the interval from 4 to 8 MiB in steps of 0.5 MiB).
 */
export function roundSize(bytes: number, rules: BlockRules): number {
  if (bytes < MIN_BLOCK_BYTES) return MIN_BLOCK_BYTES;
  if (rules.hasDivisions) {
    const log2 = floorLog2(bytes);
    const divisions = rules.divisions[Math.min(Math.max(log2 - LOG2_MIB, 0), INTERVALS - 1)];
    if (divisions > 1 && bytes > MIN_BLOCK_BYTES * divisions) {
      const step = 2 ** (log2 - floorLog2(divisions));
      return Math.ceil(bytes / step) * step;
    }
  }
  return Math.ceil(bytes / MIN_BLOCK_BYTES) * MIN_BLOCK_BYTES;
}

/** Exact, unlike Math.log2 just below a power of two, and ten times as fast below 2^32. */
function floorLog2(value: number): number {
  if (value < 2 ** 32) return 31 - Math.clz32(value);
  return 32 + floorLog2(Math.floor(value / 2 ** 32));
}

/** should_split: whether the rest of a free range stays free when a block is taken from its front. */
export function shouldSplit(
  rangeBytes: number,
  blockBytes: number,
  isSmallOrExpandable: boolean,
  rules: BlockRules,
): boolean {
  const rest = rangeBytes - blockBytes;
  if (isSmallOrExpandable) return rest >= MIN_BLOCK_BYTES;
  return blockBytes < rules.maxSplitBytes && rest > SMALL_BYTES;
}
