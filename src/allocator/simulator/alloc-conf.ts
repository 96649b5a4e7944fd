/**
 * Reads PYTORCH_ALLOC_CONF (formerly PYTORCH_CUDA_ALLOC_CONF) as strictly as PyTorch does, so that PyTorch accepts what
 * is accepted here. Spaces are ignored; later options win.
 */

import type { SettingValue } from '../../format/snapshot/tables.ts';
import {
  type BlockRules,
  blockRules,
  CUDA_RULES,
  confText,
  DEFAULT_LARGE_SEGMENT_BYTES,
} from '../replay/rounding.ts';
import { ConfError, ConfReader, type ConfToken, closestName, tokenize } from './conf-reader.ts';

/** The allocator's settings, with defaults filled in. */
export interface AllocSettings extends BlockRules {
  /** Oversize blocks serve requests that are at most this much smaller. */
  readonly maxNonSplitRoundingBytes: number;
  /** Share of the limit above which cached blocks are freed by age; 0 is off. */
  readonly garbageCollectionThreshold: number;
  readonly expandableSegments: boolean;
  /** per_process_memory_fraction: the share of the card that is the limit, above 0 and at most 1. */
  readonly memoryFraction: number;
  /** throw_on_cudamalloc_oom: a request above the limit fails at once, without releasing cached memory. */
  readonly throwsBeforeMalloc: boolean;
}

export interface AllocConf {
  readonly text: string;
  readonly settings: AllocSettings;
}

export type ParsedConf =
  | ({ readonly ok: true } & AllocConf)
  | {
      readonly ok: false;
      readonly text: string;
      readonly message: string;
      /** Characters [position, end) of the text are wrong; equal at the end of the text. */
      readonly position: number;
      readonly end: number;
    };

const MIB = 2 ** 20;
const INTERVALS = 16;
/** kMinLargeAlloc: larger requests get a segment of their own size. */
const MIN_LARGE_ALLOC_MB = 10;
/** CUDAAllocatorConfig::pinned_max_register_threads() */
const MAX_REGISTER_THREADS = 128;

type Megabytes = ReturnType<ConfReader['integer']>;

const unset = () => ({
  divisions: new Array<number>(INTERVALS).fill(0),
  largeSegment: undefined as Megabytes | undefined,
  maxSplit: undefined as Megabytes | undefined,
  maxNonSplitRounding: undefined as Megabytes | undefined,
  garbageCollectionThreshold: 0,
  expandableSegments: false,
  memoryFraction: 1,
  throwsBeforeMalloc: false,
});
type Found = ReturnType<typeof unset>;

/** 'expandable_segments:True,roundup_power2_divisions:[256:1,>:8]' → settings, or what is wrong and where. */
export function parseAllocConf(text: string): ParsedConf {
  const found = unset();
  try {
    const reader = new ConfReader(tokenize(text), text.length);
    while (!reader.isAtEnd) {
      readOption(reader, found);
      if (!reader.isAtEnd) reader.expect(',');
    }
    return { ok: true, text: text.trim(), settings: settingsOf(found) };
  } catch (error) {
    if (!(error instanceof ConfError)) throw error;
    const { message, position, end } = error;
    return { ok: false, text, message, position, end };
  }
}

/** PyTorch reads large_segment_size_mb first, wherever it stands: two other options must not be less. */
function settingsOf(found: Found): AllocSettings {
  const { largeSegment, maxSplit, maxNonSplitRounding, ...rest } = found;
  checkNotLess('max_split_size_mb', maxSplit, largeSegment);
  checkNotLess('max_non_split_rounding_mb', maxNonSplitRounding, largeSegment);
  const largeSegmentBytes = bytesOf(largeSegment) ?? DEFAULT_LARGE_SEGMENT_BYTES;
  return {
    ...rest,
    ...CUDA_RULES,
    hasDivisions: rest.divisions.some((count) => count > 1),
    largeSegmentBytes,
    maxSplitBytes: bytesOf(maxSplit) ?? Infinity,
    maxNonSplitRoundingBytes: bytesOf(maxNonSplitRounding) ?? largeSegmentBytes,
  };
}

const bytesOf = (size: Megabytes | undefined): number | undefined =>
  size === undefined ? undefined : size.value * MIB;

function checkNotLess(
  option: string,
  size: Megabytes | undefined,
  largeSegment: Megabytes | undefined,
): void {
  if (size === undefined) return;
  const { value, token } = size;
  const least = largeSegment?.value ?? DEFAULT_LARGE_SEGMENT_BYTES / MIB;
  if (value >= least) return;
  const what = largeSegment === undefined ? least : `large_segment_size_mb, ${least}`;
  throw new ConfError(`${option} must be at least ${what}, not ${value}`, token);
}

/** A recording's settings, from allocator_settings of the snapshot. */
export function recordedSettings(settings: Readonly<Record<string, SettingValue>>): AllocConf {
  const text = confText(settings);
  const rules = blockRules(settings);
  const parsed = parseAllocConf(text);
  const known = parsed.ok ? parsed.settings : undefined;
  const threshold = settings.garbage_collection_threshold;
  return {
    text,
    settings: {
      ...rules,
      maxNonSplitRoundingBytes: known?.maxNonSplitRoundingBytes ?? rules.largeSegmentBytes,
      garbageCollectionThreshold: typeof threshold === 'number' ? threshold : 0,
      expandableSegments: settings.expandable_segments === true,
      memoryFraction: known?.memoryFraction ?? 1,
      throwsBeforeMalloc: known?.throwsBeforeMalloc ?? false,
    },
  };
}

/** Reads and checks an option's value. */
type ReadValue = (reader: ConfReader, name: string) => unknown;

const boolean: ReadValue = (reader, name) => reader.boolean(name);
const integer: ReadValue = (reader, name) => reader.integer(name);
const over =
  (least: number): ReadValue =>
  (reader, option) => {
    const found = reader.integer(option);
    if (found.value > least) return found;
    throw new ConfError(`${option} must be over ${least}, not ${found.value}`, found.token);
  };
/** A number above 0 and below 1 (or at most 1). */
const share =
  (mayBeOne: boolean): ReadValue =>
  (reader, option) => {
    const token = reader.next('a number between 0 and 1');
    const value = /^(\d+\.?\d*|\.\d+)$/.test(token.text) ? Number(token.text) : Number.NaN;
    if (value > 0 && (value < 1 || (mayBeOne && value === 1))) return value;
    const range = `over 0 and ${mayBeOne ? 'at most' : 'under'} 1`;
    throw new ConfError(`${option} must be a number ${range}, not '${token.text}'`, token);
  };

/** How options are read, and what they set. */
const WITH_EFFECT: Readonly<Record<string, readonly [ReadValue, keyof Found | undefined]>> = {
  backend: [readBackend, undefined],
  expandable_segments: [boolean, 'expandableSegments'],
  garbage_collection_threshold: [share(false), 'garbageCollectionThreshold'],
  large_segment_size_mb: [over(MIN_LARGE_ALLOC_MB), 'largeSegment'],
  max_non_split_rounding_mb: [integer, 'maxNonSplitRounding'],
  max_split_size_mb: [integer, 'maxSplit'],
  per_process_memory_fraction: [share(true), 'memoryFraction'],
  roundup_power2_divisions: [readDivisions, 'divisions'],
  throw_on_cudamalloc_oom: [boolean, 'throwsBeforeMalloc'],
};

const HOST_MEMORY = 'affects pinned host memory, not GPU memory';
const ADDRESSES = 'affects addresses, not memory use';
const TIMING = 'affects time, not memory use';
const CAPTURE = 'can only lower reserved memory during CUDA graph capture, which is not simulated';

/** Options that do not affect these figures, and why. They are accepted and checked. */
const WITHOUT_EFFECT: Readonly<Record<string, readonly [string, ReadValue]>> = {
  release_lock_on_cudamalloc: [TIMING, boolean],
  release_lock_on_hipmalloc: [TIMING, boolean],
  pinned_use_cuda_host_register: [HOST_MEMORY, boolean],
  pinned_use_hip_host_register: [HOST_MEMORY, boolean],
  pinned_use_background_threads: [HOST_MEMORY, boolean],
  pinned_num_register_threads: [HOST_MEMORY, checkThreads],
  pinned_reserve_segment_size_mb: [HOST_MEMORY, over(0)],
  pinned_max_round_threshold_mb: [HOST_MEMORY, over(0)],
  pinned_max_cached_size_mb: [HOST_MEMORY, over(0)],
  pinned_free_catch_all: [HOST_MEMORY, boolean],
  expandable_segments_reserve: [ADDRESSES, checkReserve],
  expandable_segments_reserve_by_class: [ADDRESSES, checkReserves],
  graph_capture_record_stream_reuse: [CAPTURE, boolean],
};

const OPTIONS = [...Object.keys(WITH_EFFECT), ...Object.keys(WITHOUT_EFFECT)];

/** One sentence per such option: 'pinned_free_catch_all affects pinned host memory, not GPU memory'. */
export function optionsWithoutEffect(text: string): string[] {
  const names = new Set(tokenize(text).map((token) => token.text));
  return [...names].flatMap((name) =>
    Object.hasOwn(WITHOUT_EFFECT, name) ? [`${name} ${WITHOUT_EFFECT[name][0]}`] : [],
  );
}

function readOption(reader: ConfReader, found: Found): void {
  const name = reader.next('an option');
  if (!OPTIONS.includes(name.text)) throw unknownOption(name);
  reader.expect(':');
  const [read, field] = WITH_EFFECT[name.text] ?? [WITHOUT_EFFECT[name.text][1]];
  const value = read(reader, name.text);
  if (field !== undefined) Object.assign(found, { [field]: value });
}

function checkThreads(reader: ConfReader, option: string): void {
  const { value, token } = reader.integer(option);
  checkPowerOfTwo(value, option, token);
  if (value <= MAX_REGISTER_THREADS) return;
  throw new ConfError(`${option} must be at most ${MAX_REGISTER_THREADS}, not ${value}`, token);
}

function checkReserves(reader: ConfReader): void {
  reader.expect('[');
  do {
    reader.next('a name');
    reader.expect(':');
    checkReserve(reader);
  } while (reader.skip(','));
  reader.expect(']');
}

function unknownOption(name: ConfToken): ConfError {
  const { text } = name;
  const [before, after] = text.split('=');
  if (after !== undefined) {
    const hint = OPTIONS.includes(before)
      ? `Write ${before}:${after}.`
      : `Leave out '${before}=': only what follows it is the setting.`;
    return new ConfError(`Options are written name:value, without '='. ${hint}`, name);
  }
  const close = closestName(text, OPTIONS);
  const hint = close === undefined ? `One of ${OPTIONS.join(', ')}.` : `Did you mean ${close}?`;
  return new ConfError(`Unknown option '${text}'. ${hint}`, name);
}

function readBackend(reader: ConfReader): void {
  const backend = reader.next('native');
  if (backend.text === 'native') return;
  const isOther = backend.text === 'cudaMallocAsync' || backend.text === 'hipMallocAsync';
  const message = isOther
    ? `backend:${backend.text} is CUDA's own allocator, whose rules are not simulated`
    : `Unknown backend '${backend.text}'; only native can be simulated`;
  throw new ConfError(message, backend);
}

/** A share of the card's memory, or GiB: 0.5, 40G. */
function checkReserve(reader: ConfReader): void {
  const token = reader.next('a share such as 0.5, or a size such as 40G');
  if (/^(\d+\.?\d*|\.\d+)g?$/i.test(token.text) && Number.parseFloat(token.text) > 0) return;
  throw new ConfError(
    `A reserve must be a share over 0 such as 0.5, or a size such as 40G, not '${token.text}'`,
    token,
  );
}

/** '8' for all sizes, or by size in MiB: '[256:1,512:2,1024:4,>:8]', where '>' means all above the last. */
function readDivisions(reader: ConfReader): number[] {
  if (!reader.skip('[')) {
    return new Array<number>(INTERVALS).fill(readPowerOfTwo(reader, 'roundup_power2_divisions'));
  }
  const divisions = new Array<number>(INTERVALS).fill(0);
  let last = 0;
  let isFirst = true;
  do {
    const key = reader.next("a size in MiB, or '>'");
    reader.expect(':');
    const count = readPowerOfTwo(reader, 'the number of divisions', true);
    if (key.text === '>') {
      divisions.fill(count, last + 1);
    } else {
      last = intervalOf(key);
      // Sizes below the first one given are rounded like it.
      if (isFirst) divisions.fill(count, 0, last);
      divisions[last] = count;
      isFirst = false;
    }
  } while (reader.skip(','));
  reader.expect(']');
  return divisions;
}

function intervalOf(key: ConfToken): number {
  const value = /^\d+$/.test(key.text) ? Number(key.text) : Number.NaN;
  if (isPowerOfTwo(value)) return Math.min(Math.round(Math.log2(value)), INTERVALS - 1);
  throw new ConfError(`Sizes must be powers of 2 (in MiB) or '>', not '${key.text}'`, key);
}

function readPowerOfTwo(reader: ConfReader, what: string, mayBeZero = false): number {
  const { value, token } = reader.integer(what);
  if (!(mayBeZero && value === 0)) checkPowerOfTwo(value, what, token);
  return value;
}

function checkPowerOfTwo(value: number, what: string, token: ConfToken): void {
  if (isPowerOfTwo(value)) return;
  throw new ConfError(`${what} must be a power of 2, not ${value}`, token);
}

function isPowerOfTwo(value: number): boolean {
  return value >= 1 && 2 ** Math.round(Math.log2(value)) === value;
}
