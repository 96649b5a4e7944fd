/**
 * The allocator's settings as recorded, beside what they are where nobody sets them. Defaults and
 * their places were read in PyTorch's source (late 2025) and seen in captures of 2.11.
 */

import type { SettingValue, Snapshot } from '../../format/snapshot/tables.ts';

const ACCELERATOR = 'c10/core/AllocatorConfig.h, AcceleratorAllocatorConfig';
const CUDA = 'c10/cuda/CUDAAllocatorConfig.h, CUDAAllocatorConfig';
const RECORDER = 'torch/csrc/cuda/memory_snapshot.cpp';
const SETTINGS_STRING = 'The settings string, as the program last set it.';
/** sys.maxsize, Python's default for max_entries of _record_memory_history. */
const MAX_ENTRIES = 2 ** 63;

/** By the key in the file: its default, what it does in a sentence, and where the default is written down. */
const KNOWN: Readonly<Record<string, readonly [SettingValue, string, string]>> = {
  PYTORCH_ALLOC_CONF: ['', SETTINGS_STRING, RECORDER],
  PYTORCH_CUDA_ALLOC_CONF: ['', SETTINGS_STRING, RECORDER],
  expandable_segments: [
    false,
    'Segments can grow, so free memory in one can serve larger requests.',
    ACCELERATOR,
  ],
  max_split_size: [
    -1,
    'Blocks of this size or larger are never split. -1: any block may be split.',
    ACCELERATOR,
  ],
  garbage_collection_threshold: [
    0,
    'Share of the memory limit above which PyTorch frees old cached blocks. 0: never.',
    ACCELERATOR,
  ],
  roundup_power2_divisions: [
    {},
    'Divisions of each power of two that requests round up to, by size in MiB. 0: round up to 512 bytes.',
    ACCELERATOR,
  ],
  per_process_memory_fraction: [1, 'Share of GPU memory that this process may use.', CUDA],
  release_lock_on_cudamalloc: [
    false,
    'Lets other threads allocate while one waits for cudaMalloc.',
    CUDA,
  ],
  graph_capture_record_stream_reuse: [
    false,
    'Reuses blocks that other streams used while a CUDA graph is captured.',
    CUDA,
  ],
  pinned_use_cuda_host_register: [
    false,
    'Pinned memory comes from cudaHostRegister instead of cudaHostAlloc.',
    CUDA,
  ],
  pinned_num_register_threads: [1, 'How many threads register pinned memory.', CUDA],
  trace_alloc_overflowed: [
    false,
    'The recording reached max_entries and dropped its oldest events.',
    RECORDER,
  ],
  trace_alloc_max_entries: [
    MAX_ENTRIES,
    'How many events the recording keeps per device.',
    'torch/cuda/memory.py, _record_memory_history',
  ],
};

/** All recorded settings, those that differ from the default first, in the file's order. */
export function settingRows(settings: Snapshot['settings']): SettingRow[] {
  const rows = Object.entries(settings).map(([name, value]) => settingRow(name, value));
  const rank = ({ isDefault }: SettingRow) => (isDefault === true ? 1 : 0);
  return rows.sort((a, b) => rank(a) - rank(b));
}

export type SettingRow = ReturnType<typeof settingRow>;

function settingRow(name: string, value: SettingValue) {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  const [standard, about = '', source = ''] = known ?? [];
  return {
    /** The key in the file. */
    name,
    value: settingText(value),
    /** PyTorch's default in the same words; undefined for a key that is not known here. */
    defaultValue: standard === undefined ? undefined : settingText(standard),
    /** Undefined when the default is not known: then nobody can say. */
    isDefault: standard === undefined ? undefined : isEqual(value, standard),
    /** What it does, in a sentence; '' for a key that is not known here. */
    about,
    /** Where the default is written down. */
    source,
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
