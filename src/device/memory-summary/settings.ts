/**
 * The recorded allocator settings beside their defaults. Defaults and their locations are from PyTorch's source (late
 * 2025), checked against captures of 2.11.
 */

import { formatBytes, formatCount, sentenceCase } from '../../base/format.ts';
import { SETTINGS_VARIABLE } from '../../format/snapshot/accelerator.ts';
import type { SettingValue, Snapshot } from '../../format/snapshot/tables.ts';
import type { DeviceInfo } from '../model/device-info.ts';

const ACCELERATOR = 'c10/core/AllocatorConfig.h, AcceleratorAllocatorConfig';
const CUDA = 'c10/cuda/CUDAAllocatorConfig.h, CUDAAllocatorConfig';
const RECORDER = 'torch/csrc/cuda/memory_snapshot.cpp';
const SETTINGS_STRING = 'The settings string, as the program last set it.';
/** sys.maxsize, Python's default for max_entries of _record_memory_history. */
const MAX_ENTRIES = 2 ** 63;

/** Key in the file → default, one-sentence description, location of the default in PyTorch's source. */
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
  per_process_memory_fraction: [1, 'Share of the device’s memory that this process may use.', CUDA],
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

/** All recorded settings: first those that differ from the default, then in file order. */
export function settingRows(settings: Snapshot['settings']): SettingRow[] {
  const rows = Object.entries(settings).map(([name, value]) => settingRow(name, value));
  const rank = ({ isDefault }: SettingRow) => (isDefault === true ? 1 : 0);
  return rows.sort((a, b) => rank(a) - rank(b));
}

export type SettingRow = ReturnType<typeof settingRow>;

/**
 * A limit on the process that the file does not record, but an OOM on a device with enough free memory shows one.
 * Undefined if none does.
 * @param device of a file with these settings
 */
export function limitRow(
  { ooms, peaks }: Pick<DeviceInfo, 'ooms' | 'peaks'>,
  { per_process_memory_fraction: fraction = 1 }: Snapshot['settings'],
): SettingRow | undefined {
  const hit = ooms.findLast(
    ({ requestedBytes, deviceFreeBytes }) => deviceFreeBytes >= requestedBytes + SPARE_BYTES,
  );
  if (hit === undefined || fraction !== 1) return undefined;
  const { event, deviceFreeBytes } = hit;
  return {
    name: 'limit of this process',
    value: `at least ${formatBytes(peaks.reservedBytes.bytes)}`,
    defaultValue: 'none',
    isDefault: undefined,
    about: `${sentenceCase(LIMIT_SOURCE)}: at event ${formatCount(event)} the GPU still had ${formatBytes(deviceFreeBytes)} free. torch.cuda.set_per_process_memory_fraction() sets it.`,
    source: '',
  };
}

/** Where a limit is known from, said wherever it is. */
export const LIMIT_SOURCE =
  'as much was reserved, and a request failed; the file does not record it';

/** PyTorch reserves at most this much more than was requested. */
const SPARE_BYTES = 20 * 2 ** 20;

function settingRow(name: string, value: SettingValue) {
  const [standard, about = '', source = ''] = knownSetting(name) ?? [];
  return {
    name,
    value: settingText(value),
    /** PyTorch's default, formatted the same way; undefined for an unknown key. */
    defaultValue: standard === undefined ? undefined : settingText(standard),
    /** Undefined if the default is unknown. */
    isDefault: standard === undefined ? undefined : isEqual(value, standard),
    /** One sentence; '' for an unknown key. */
    about,
    /** Where PyTorch defines the default. */
    source,
  };
}

/** MUSA's release_lock_on_musamalloc is CUDA's release_lock_on_cudamalloc; only CUDA's source is given. */
function knownSetting(name: string): (typeof KNOWN)[string] | undefined {
  if (Object.hasOwn(KNOWN, name)) return KNOWN[name];
  if (SETTINGS_VARIABLE.test(name)) return ['', SETTINGS_STRING, ''];
  const [vendor = ''] = /musa/.exec(name) ?? [];
  const likeCuda = name.replace(vendor, 'cuda');
  if (vendor === '' || !Object.hasOwn(KNOWN, likeCuda)) return undefined;
  const [standard, about] = KNOWN[likeCuda];
  return [standard, about.replaceAll('cuda', vendor), ''];
}

/** A dictionary is at its default when all entries are 0. Integers beyond 2^53 come as text. */
function isEqual(value: SettingValue, standard: SettingValue): boolean {
  if (typeof value === 'object') return Object.values(value).every((item) => item === 0);
  if (typeof standard === 'number') return Number(value) === standard;
  return value === standard;
}

/** '(empty)', 'True', '134217728'. A dictionary: '8' if all values are 8, else '256: 1, 512: 2' without zeros. */
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
