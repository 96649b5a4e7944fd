/** Rounds sizes as c10/cuda/CUDACachingAllocator.cpp does, and the allocators that other vendors made from it. */
import { type Accelerator, SETTINGS_VARIABLE } from '../../format/snapshot/accelerator.ts';
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
  /** Added to each request before it is rounded. */
  readonly paddingBytes: number;
  /** The size of native segments of the small pool. */
  readonly smallSegmentBytes: number;
  /** Fewer divisions than this are none. */
  readonly leastDivisions: number;
  /** The size of a segment does not tell its pool, so the request that it was allocated for does. */
  readonly isPoolByRequest: boolean;
}

/** CUDA's constants; XPU and MUSA have the same. */
export const CUDA_RULES = {
  paddingBytes: 0,
  smallSegmentBytes: SMALL_SEGMENT_BYTES,
  leastDivisions: 2,
  isPoolByRequest: false,
};

/** Cambricon rounds to one division too, and packs small requests, and larger ones up to 16 MiB, in 32 MiB. */
const MLU_RULES = {
  ...CUDA_RULES,
  smallSegmentBytes: 32 * 2 ** 20,
  leastDivisions: 1,
  isPoolByRequest: true,
};

function rulesOf(accelerator: Accelerator | undefined) {
  if (accelerator?.vendor === 'mlu') return MLU_RULES;
  if (accelerator?.vendor !== 'npu') return CUDA_RULES;
  // Its pages may be of 1 GiB, or of a size that the file does not tell.
  return { ...CUDA_RULES, paddingBytes: accelerator.paddingBytes, isPoolByRequest: true };
}

/** The settings text that the program was given; '' is the default, also for a file without settings. */
export function confText(settings: Readonly<Record<string, SettingValue>>): string {
  const name = Object.keys(settings).find((key) => SETTINGS_VARIABLE.test(key));
  const text = settings.PYTORCH_ALLOC_CONF ?? settings[name ?? ''];
  return typeof text === 'string' ? text : '';
}

/** PyTorch 2.11 reads large_segment_size_mb but does not list it, so take it from the text. */
function largeSegmentBytes(settings: Readonly<Record<string, SettingValue>>): number {
  const sizes = [...confText(settings).matchAll(/(?:^|[\s,])large_segment_size_mb\s*:\s*(\d+)/g)];
  const last = sizes.at(-1);
  return last === undefined ? DEFAULT_LARGE_SEGMENT_BYTES : Number(last[1]) * 2 ** 20;
}

/** From a snapshot's `allocator_settings`, with PyTorch's defaults for missing ones. */
export function blockRules(
  settings: Readonly<Record<string, SettingValue>>,
  accelerator?: Accelerator,
): BlockRules {
  const rules = rulesOf(accelerator);
  const divisions = settings.roundup_power2_divisions;
  const maxSplit = settings.max_split_size;
  const byInterval = Array.from({ length: INTERVALS }, (_, i) =>
    typeof divisions === 'object' ? (divisions[String(2 ** i)] ?? 0) : 0,
  );
  return {
    divisions: byInterval,
    hasDivisions: byInterval.some((count) => count >= rules.leastDivisions),
    maxSplitBytes: typeof maxSplit === 'number' && maxSplit > 0 ? maxSplit : Infinity,
    largeSegmentBytes: accelerator?.largePageBytes ?? largeSegmentBytes(settings),
    ...rules,
  };
}

/**
 * round_size: bytes of the block for a request. 1 → 512, 513 → 1024. With 8 divisions, 5 MiB + 1 → 5.5 MiB
 * (the interval from 4 to 8 MiB in steps of 0.5 MiB).
 */
export function roundSize(requested: number, rules: BlockRules): number {
  const bytes = requested + rules.paddingBytes;
  if (bytes < MIN_BLOCK_BYTES) return MIN_BLOCK_BYTES;
  if (rules.hasDivisions) {
    const log2 = floorLog2(bytes);
    const divisions = rules.divisions[Math.min(Math.max(log2 - LOG2_MIB, 0), INTERVALS - 1)];
    if (divisions >= rules.leastDivisions && bytes > MIN_BLOCK_BYTES * divisions) {
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
