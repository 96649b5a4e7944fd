import type { SettingValue } from '../snapshot/tables.ts';

/** What PyTorch records where PYTORCH_CUDA_ALLOC_CONF says nothing. */
const DEFAULTS: Readonly<Record<string, SettingValue>> = {
  PYTORCH_CUDA_ALLOC_CONF: '',
  max_split_size: -1,
  garbage_collection_threshold: 0,
  expandable_segments: false,
  pinned_num_register_threads: 1,
  release_lock_on_cudamalloc: false,
  pinned_use_cuda_host_register: false,
  graph_capture_record_stream_reuse: false,
  trace_alloc_overflowed: false,
};

/**
 * 'name = value' for each recorded setting that is not at its default, and for each whose default
 * is not known here. A dictionary of zeros (roundup_power2_divisions) is at its default.
 */
export function changedSettings(settings: Readonly<Record<string, SettingValue>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (typeof value !== 'object') {
      return Object.hasOwn(DEFAULTS, name) && DEFAULTS[name] === value
        ? []
        : [`${name} = ${value}`];
    }
    const text = dictionaryText(Object.entries(value));
    return text === '' ? [] : [`${name} = ${text}`];
  });
}

/** '8' where all intervals have the same, as `roundup_power2_divisions:8` sets it; '' for zeros. */
function dictionaryText(entries: readonly (readonly [string, number])[]): string {
  const values = new Set(entries.map(([, value]) => value));
  const set = entries.filter(([, value]) => value !== 0);
  if (set.length > 0 && values.size === 1) return String(set[0][1]);
  return set.map(([interval, value]) => `${interval}: ${value}`).join(', ');
}
