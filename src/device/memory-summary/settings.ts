/**
 * The allocator's settings as recorded, beside what they are where nobody sets them. Defaults and
 * their places were read in PyTorch's source (late 2025) and seen in captures of 2.11.
 */

import type { SettingValue, Snapshot } from '../../format/snapshot/tables.ts';

export interface SettingRow {
  /** The key in the file. */
  readonly name: string;
  readonly value: string;
  /** PyTorch's default in the same words; undefined for a key that is not known here. */
  readonly defaultValue: string | undefined;
  /** Undefined when the default is not known: then nobody can say. */
  readonly isDefault: boolean | undefined;
  /** What it does, in a sentence; '' for a key that is not known here. */
  readonly about: string;
  /** Where the default is written down. */
  readonly source: string;
}

interface KnownSetting {
  readonly default: SettingValue;
  readonly about: string;
  readonly source: string;
}

const ACCELERATOR = 'c10/core/AllocatorConfig.h, AcceleratorAllocatorConfig';
const CUDA = 'c10/cuda/CUDAAllocatorConfig.h, CUDAAllocatorConfig';
const RECORDER = 'torch/csrc/cuda/memory_snapshot.cpp';

const SETTINGS_STRING: KnownSetting = {
  default: '',
  about: 'The settings string, as the program last set it.',
  source: RECORDER,
};

const KNOWN: ReadonlyMap<string, KnownSetting> = new Map(
  Object.entries({
    PYTORCH_ALLOC_CONF: SETTINGS_STRING,
    PYTORCH_CUDA_ALLOC_CONF: SETTINGS_STRING,
    expandable_segments: {
      default: false,
      about: 'Segments can grow, so free memory in one can serve larger requests.',
      source: ACCELERATOR,
    },
    max_split_size: {
      default: -1,
      about: 'Blocks of this size or larger are never split. -1: any block may be split.',
      source: ACCELERATOR,
    },
    garbage_collection_threshold: {
      default: 0,
      about: 'Share of the memory limit above which PyTorch frees old cached blocks. 0: never.',
      source: ACCELERATOR,
    },
    roundup_power2_divisions: {
      default: {},
      about:
        'Divisions of each power of two that requests round up to, by size in MiB. 0: round up to 512 bytes.',
      source: ACCELERATOR,
    },
    per_process_memory_fraction: {
      default: 1,
      about: 'Share of GPU memory that this process may use.',
      source: CUDA,
    },
    release_lock_on_cudamalloc: {
      default: false,
      about: 'Lets other threads allocate while one waits for cudaMalloc.',
      source: CUDA,
    },
    graph_capture_record_stream_reuse: {
      default: false,
      about: 'Reuses blocks that other streams used while a CUDA graph is captured.',
      source: CUDA,
    },
    pinned_use_cuda_host_register: {
      default: false,
      about: 'Pinned memory comes from cudaHostRegister instead of cudaHostAlloc.',
      source: CUDA,
    },
    pinned_num_register_threads: {
      default: 1,
      about: 'How many threads register pinned memory.',
      source: CUDA,
    },
    trace_alloc_overflowed: {
      default: false,
      about: 'The recording reached max_entries and dropped its oldest events.',
      source: RECORDER,
    },
    trace_alloc_max_entries: {
      // sys.maxsize, Python's default for max_entries of _record_memory_history.
      default: 2 ** 63,
      about: 'How many events the recording keeps per device.',
      source: 'torch/cuda/memory.py, _record_memory_history',
    },
  }),
);

/** All recorded settings, those that differ from the default first, in the file's order. */
export function settingRows(settings: Snapshot['settings']): SettingRow[] {
  const rows = Object.entries(settings).map(([name, value]) => settingRow(name, value));
  const rank = ({ isDefault }: SettingRow) => (isDefault === true ? 1 : 0);
  return rows.sort((a, b) => rank(a) - rank(b));
}

function settingRow(name: string, value: SettingValue): SettingRow {
  const known = KNOWN.get(name);
  return {
    name,
    value: settingText(value),
    defaultValue: known && settingText(known.default),
    isDefault: known && isEqual(value, known.default),
    about: known?.about ?? '',
    source: known?.source ?? '',
  };
}

/** Dictionaries are at their default when all entries are 0. Integers beyond 2^53 come as text. */
function isEqual(value: SettingValue, standard: SettingValue): boolean {
  if (typeof value === 'object') return Object.values(value).every((item) => item === 0);
  if (typeof standard === 'number') return Number(value) === standard;
  return value === standard;
}

/** '(empty)', 'True', '134217728'; of a dictionary '8' where all are, else '256: 1, 512: 2' without zeros. */
export function settingText(value: SettingValue): string {
  if (value === '') return '(empty)';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value);
  const [first] = entries;
  if (first === undefined) return '0';
  if (entries.every(([, item]) => item === first[1])) return String(first[1]);
  const set = entries.filter(([, item]) => item !== 0);
  return set.map(([key, item]) => `${key}: ${item}`).join(', ');
}
