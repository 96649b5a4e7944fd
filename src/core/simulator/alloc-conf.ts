/**
 * PYTORCH_CUDA_ALLOC_CONF (newer name PYTORCH_ALLOC_CONF), read as strictly as PyTorch reads it, so that
 * what is tried here is what would be accepted there. Blanks are ignored, a later option wins.
 */
import { type BlockRules, blockRules, LARGE_PAGE_BYTES } from '../replay/rounding.ts';
import type { SettingValue } from '../snapshot/tables.ts';
import { ConfError, ConfReader, type ConfToken, tokenize } from './conf-reader.ts';

/** The allocator's settings, with defaults filled in. */
export interface AllocSettings extends BlockRules {
  /** Oversize blocks serve a request that is at most this much smaller. */
  readonly maxNonSplitRoundingBytes: number;
  /** Share of the limit above which cached blocks are freed by age; 0 is off. */
  readonly garbageCollectionThreshold: number;
  readonly expandableSegments: boolean;
}

export type ParsedConf =
  | { readonly ok: true; readonly text: string; readonly settings: AllocSettings }
  | {
      readonly ok: false;
      readonly text: string;
      readonly message: string;
      /** Characters [position, end) of the text are what is wrong; equal at its end. */
      readonly position: number;
      readonly end: number;
    };

const MIB = 2 ** 20;
const INTERVALS = 16;
const MIN_LARGE_MB = LARGE_PAGE_BYTES / MIB;

interface MutableSettings {
  divisions: number[];
  maxSplitBytes: number;
  maxNonSplitRoundingBytes: number;
  garbageCollectionThreshold: number;
  expandableSegments: boolean;
}

/**
 * 'expandable_segments:True,roundup_power2_divisions:[256:1,>:8]' → settings, or what is wrong and where.
 * The empty text is the default allocator.
 */
export function parseAllocConf(text: string): ParsedConf {
  const found: MutableSettings = {
    divisions: new Array<number>(INTERVALS).fill(0),
    maxSplitBytes: Infinity,
    maxNonSplitRoundingBytes: LARGE_PAGE_BYTES,
    garbageCollectionThreshold: 0,
    expandableSegments: false,
  };
  try {
    const reader = new ConfReader(tokenize(text), text.length);
    while (!reader.isAtEnd) {
      readOption(reader, found);
      if (!reader.isAtEnd) reader.expect(',');
    }
  } catch (error) {
    if (!(error instanceof ConfError)) throw error;
    const { message, position, end } = error;
    return { ok: false, text, message, position, end };
  }
  const hasDivisions = found.divisions.some((count) => count > 1);
  return { ok: true, text: text.trim(), settings: { ...found, hasDivisions } };
}

/** The settings of a recording, from allocator_settings of the snapshot. */
export function recordedSettings(settings: Readonly<Record<string, SettingValue>>): {
  readonly text: string;
  readonly settings: AllocSettings;
} {
  const conf = settings.PYTORCH_CUDA_ALLOC_CONF;
  const text = typeof conf === 'string' ? conf : '';
  const parsed = parseAllocConf(text);
  const threshold = settings.garbage_collection_threshold;
  return {
    text,
    settings: {
      ...blockRules(settings),
      maxNonSplitRoundingBytes: parsed.ok
        ? parsed.settings.maxNonSplitRoundingBytes
        : LARGE_PAGE_BYTES,
      garbageCollectionThreshold: typeof threshold === 'number' ? threshold : 0,
      expandableSegments: settings.expandable_segments === true,
    },
  };
}

/** Options that change nothing about where device memory goes: accepted, checked, without effect here. */
const WITHOUT_EFFECT = [
  'release_lock_on_cudamalloc',
  'release_lock_on_hipmalloc',
  'pinned_use_cuda_host_register',
  'pinned_use_hip_host_register',
  'pinned_use_background_threads',
  'graph_capture_record_stream_reuse',
];
const OPTIONS = [
  'backend',
  'expandable_segments',
  'garbage_collection_threshold',
  'max_non_split_rounding_mb',
  'max_split_size_mb',
  'pinned_num_register_threads',
  'roundup_power2_divisions',
  ...WITHOUT_EFFECT,
];

function readOption(reader: ConfReader, found: MutableSettings): void {
  const name = reader.next('an option');
  if (!OPTIONS.includes(name.text)) throw unknownOption(name);
  reader.expect(':');
  if (WITHOUT_EFFECT.includes(name.text)) {
    reader.boolean(name.text);
    return;
  }
  switch (name.text) {
    case 'expandable_segments':
      found.expandableSegments = reader.boolean(name.text);
      return;
    case 'max_split_size_mb':
      found.maxSplitBytes = readMegabytes(reader, name.text);
      return;
    case 'max_non_split_rounding_mb':
      found.maxNonSplitRoundingBytes = readMegabytes(reader, name.text);
      return;
    case 'garbage_collection_threshold':
      found.garbageCollectionThreshold = readThreshold(reader);
      return;
    case 'roundup_power2_divisions':
      found.divisions = readDivisions(reader);
      return;
    case 'pinned_num_register_threads':
      readPowerOfTwo(reader, 'pinned_num_register_threads');
      return;
    default:
      readBackend(reader);
  }
}

function unknownOption(name: ConfToken): ConfError {
  const close = OPTIONS.find((option) => differsLittle(option, name.text));
  const hint = close === undefined ? `One of ${OPTIONS.join(', ')}.` : `Did you mean ${close}?`;
  return new ConfError(`Unknown option '${name.text}'. ${hint}`, name);
}

function readBackend(reader: ConfReader): void {
  const backend = reader.next('native');
  if (backend.text === 'native') return;
  const isOther = backend.text === 'cudaMallocAsync' || backend.text === 'hipMallocAsync';
  const message = isOther
    ? `backend:${backend.text} is another allocator, CUDA's own, whose rules are not simulated`
    : `Unknown backend '${backend.text}'; native is the one that can be simulated`;
  throw new ConfError(message, backend);
}

function readMegabytes(reader: ConfReader, option: string): number {
  const { value, token } = reader.integer(option);
  if (value <= MIN_LARGE_MB) {
    throw new ConfError(`${option} must be over ${MIN_LARGE_MB}, not ${value}`, token);
  }
  return value * MIB;
}

function readThreshold(reader: ConfReader): number {
  const token = reader.next('a number between 0 and 1');
  const value = /^(\d+\.?\d*|\.\d+)$/.test(token.text) ? Number(token.text) : Number.NaN;
  if (value > 0 && value < 1) return value;
  throw new ConfError(
    `garbage_collection_threshold must be a number over 0 and under 1, not '${token.text}'`,
    token,
  );
}

/** '8' for all sizes, or by size in MiB: '[256:1,512:2,1024:4,>:8]', '>' being all above the last. */
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
      divisions.fill(count, last);
    } else {
      last = intervalOf(key);
      // What lies below the first size given is rounded as that is.
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
  if (!isPowerOfTwo(value)) {
    throw new ConfError(`Sizes must be powers of 2 (in MiB) or '>', not '${key.text}'`, key);
  }
  return Math.min(Math.round(Math.log2(value)), INTERVALS - 1);
}

function readPowerOfTwo(reader: ConfReader, what: string, mayBeZero = false): number {
  const { value, token } = reader.integer(what);
  if (isPowerOfTwo(value) || (mayBeZero && value === 0)) return value;
  throw new ConfError(`${what} must be a power of 2, not ${value}`, token);
}

function isPowerOfTwo(value: number): boolean {
  return value >= 1 && 2 ** Math.round(Math.log2(value)) === value;
}

/** One letter missing, added, changed, or two swapped, or only the case. 'expandable_segment' is close. */
function differsLittle(option: string, text: string): boolean {
  const a = option.toLowerCase();
  const b = text.toLowerCase();
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let end = 0;
  while (
    end < a.length - from &&
    end < b.length - from &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end++;
  }
  return Math.max(a.length, b.length) - from - end <= 2;
}
