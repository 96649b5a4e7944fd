import { describe, expect, test } from 'vitest';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import type { DeviceInfo } from '../model/device-info.ts';
import { limitRow, settingRows } from './settings.ts';

const changed = (name: string) =>
  settingRows(loadCapture(name).settings)
    .filter(({ isDefault }) => isDefault !== true)
    .map(({ name: key, value }) => `${key} ${value}`);

describe('settings', () => {
  test('of a run without any are all at their defaults', () => {
    expect(changed('train_gpt_small.pickle.gz')).toEqual([]);
  });

  test.each([
    [
      'whatif_expandable',
      ['PYTORCH_CUDA_ALLOC_CONF expandable_segments:True', 'expandable_segments True'],
    ],
    [
      'whatif_split128',
      ['PYTORCH_CUDA_ALLOC_CONF max_split_size_mb:128', 'max_split_size 134217728'],
    ],
    [
      'whatif_gc08',
      [
        'PYTORCH_CUDA_ALLOC_CONF garbage_collection_threshold:0.8',
        'garbage_collection_threshold 0.8',
      ],
    ],
    [
      'whatif_pow2',
      ['PYTORCH_CUDA_ALLOC_CONF roundup_power2_divisions:8', 'roundup_power2_divisions 8'],
    ],
  ])('of %s differ if they were set', (folder, expected) => {
    expect(changed(`${folder}/train_gpt_small.pickle.gz`)).toEqual(expected);
  });

  test('of all captures are known here', () => {
    for (const name of captureNames()) {
      for (const row of settingRows(loadCapture(name).settings)) {
        expect(row.defaultValue, `${name} ${row.name}`).toBeDefined();
        expect(row.about).not.toBe('');
      }
    }
  });

  test('that are unknown have no default, and come first', () => {
    const [first, second] = settingRows({ max_split_size: -1, brand_new: { a: 1, b: 0 } });
    expect(first).toMatchObject({ name: 'brand_new', value: 'a: 1', isDefault: undefined });
    expect(second?.isDefault).toBe(true);
  });
});

test('a limit of the process is shown by an OOM on a device with room, and by no other', () => {
  const peaks = { reservedBytes: { bytes: 5 * 2 ** 30, event: 7 } };
  const oom = { event: 7, timeUs: 0, requestedBytes: 2 ** 30, wasRetried: false };
  const on = (deviceFreeBytes: number) =>
    ({ peaks, ooms: [{ ...oom, deviceFreeBytes }] }) as unknown as DeviceInfo;
  const row = limitRow(on(60 * 2 ** 30), {});
  expect(row).toMatchObject({ value: 'at least 5.00 GiB', isDefault: undefined });
  expect(row?.about).toContain('the file does not record it: at event 7 the GPU still had');
  expect(limitRow(on(2 ** 29), {})).toBeUndefined();
  expect(limitRow(on(Number.NaN), {})).toBeUndefined();
  expect(limitRow(on(60 * 2 ** 30), { per_process_memory_fraction: 0.1 })).toBeUndefined();
});
