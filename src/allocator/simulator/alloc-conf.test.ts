import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import { CUDA_RULES } from '../replay/rounding.ts';
import { optionsWithoutEffect, parseAllocConf, recordedSettings } from './alloc-conf.ts';
import { PRESETS } from './presets.ts';

const MIB = 2 ** 20;

function settingsOf(text: string) {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf.settings;
}

test('the default allocator', () => {
  expect(settingsOf('')).toEqual({
    ...CUDA_RULES,
    divisions: new Array(16).fill(0),
    hasDivisions: false,
    maxSplitBytes: Infinity,
    largeSegmentBytes: 20 * MIB,
    maxNonSplitRoundingBytes: 20 * MIB,
    garbageCollectionThreshold: 0,
    expandableSegments: false,
    memoryFraction: 1,
    throwsBeforeMalloc: false,
  });
});

test('all options at once, ignoring spaces', () => {
  const text =
    ' expandable_segments:True, max_split_size_mb : 128,garbage_collection_threshold:0.8,max_non_split_rounding_mb:64,backend:native,pinned_use_cuda_host_register:False';
  expect(settingsOf(text)).toMatchObject({
    expandableSegments: true,
    maxSplitBytes: 128 * MIB,
    garbageCollectionThreshold: 0.8,
    maxNonSplitRoundingBytes: 64 * MIB,
  });
});

test('large_segment_size_mb is read first, and moves the default of max_non_split_rounding_mb', () => {
  expect(settingsOf('large_segment_size_mb:64')).toMatchObject({
    largeSegmentBytes: 64 * MIB,
    maxNonSplitRoundingBytes: 64 * MIB,
  });
  const text = 'max_split_size_mb:15,max_non_split_rounding_mb:40,large_segment_size_mb:15';
  expect(settingsOf(text)).toMatchObject({
    largeSegmentBytes: 15 * MIB,
    maxSplitBytes: 15 * MIB,
    maxNonSplitRoundingBytes: 40 * MIB,
  });
});

test('the limit as a share, and failing without asking the driver', () => {
  expect(settingsOf('per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:True')).toMatchObject({
    memoryFraction: 0.5,
    throwsBeforeMalloc: true,
  });
});

test('options without effect are read, and named with the reason', () => {
  const text =
    'expandable_segments_reserve:0.5,expandable_segments_reserve_by_class:[capture:0.25,other:40G],pinned_reserve_segment_size_mb:64,pinned_free_catch_all:True,pinned_max_round_threshold_mb:128,pinned_max_cached_size_mb:256,pinned_num_register_threads:8,graph_capture_record_stream_reuse:True,release_lock_on_cudamalloc:True';
  expect(settingsOf(text)).toEqual(settingsOf(''));
  const named = optionsWithoutEffect(text);
  expect(named).toHaveLength(9);
  expect(named).toContain('expandable_segments_reserve affects addresses, not memory use');
  expect(named.join()).toContain('pinned_free_catch_all affects pinned host memory');
  expect(optionsWithoutEffect('expandable_segments:True')).toEqual([]);
});

test('divisions by size: below the first like the first, above the last by >', () => {
  const { divisions } = settingsOf('roundup_power2_divisions:[256:1,512:2,1024:4,>:8]');
  // As PyTorch 2.11 lists them for this text: 1 to 128 MiB as 256, and '>' is everything above the last.
  expect(divisions).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8]);
});

test.each(captureNames())('%s: its text and its dictionary give the same settings', (name) => {
  const { settings } = loadCapture(name);
  if (settings.PYTORCH_CUDA_ALLOC_CONF === undefined) return;
  const recorded = recordedSettings(settings);
  expect(settingsOf(recorded.text)).toEqual(recorded.settings);
});

test('refusing a word of 100 kB takes no longer than reading it', () => {
  const start = process.cpuUsage();
  expect(parseAllocConf(`${'long/'.repeat(20_000)}:True`).ok).toBe(false);
  expect(process.cpuUsage(start).user).toBeLessThan(0.3e6);
});

describe('what is wrong, and where', () => {
  test.each([
    ['expandable_segment:True', 0, 18, 'Did you mean expandable_segments?'],
    ['expandable_segments:true', 20, 24, "must be True or False, not 'true'"],
    ['expandable_segments', 19, 19, "Expected ':', but the text ends here"],
    ['expandable_segments:', 20, 20, 'Expected True or False, but the text ends here'],
    [
      'expandable_segments:True max_split_size_mb:64',
      25,
      42,
      "Expected ',', not 'max_split_size_mb'",
    ],
    ['max_split_size_mb:19', 18, 20, 'must be at least 20, not 19'],
    ['max_split_size:64', 0, 14, 'Did you mean max_split_size_mb?'],
    ['garbage_colection_treshold:0.8', 0, 26, 'Did you mean garbage_collection_threshold?'],
    ['large_segment_size:64', 0, 18, 'Did you mean large_segment_size_mb?'],
    ['expandable_segments:Ture', 20, 24, 'Did you mean True?'],
    ['expandable_segments=True', 0, 24, 'Write expandable_segments:True.'],
    [
      'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
      0,
      43,
      "Leave out 'PYTORCH_CUDA_ALLOC_CONF='",
    ],
    ['max_split_size_mb:128MB', 18, 23, "must be a whole number, without a unit, not '128MB'"],
    ['large_segment_size_mb:10', 22, 24, 'must be over 10, not 10'],
    [
      'max_split_size_mb:32,large_segment_size_mb:64',
      18,
      20,
      'must be at least large_segment_size_mb, 64, not 32',
    ],
    ['per_process_memory_fraction:1.5', 28, 31, "over 0 and at most 1, not '1.5'"],
    ['expandable_segments_reserve:40Q', 28, 31, "such as 40G, not '40Q'"],
    ['expandable_segments_reserve_by_class:[a:0.5', 43, 43, "Expected ']', but the text ends here"],
    ['pinned_num_register_threads:256', 28, 31, 'must be at most 128, not 256'],
    ['max_split_size_mb:1e3', 18, 21, "must be a whole number, not '1e3'"],
    ['garbage_collection_threshold:1', 29, 30, "over 0 and under 1, not '1'"],
    ['garbage_collection_threshold:80%', 29, 32, "over 0 and under 1, not '80%'"],
    ['roundup_power2_divisions:3', 25, 26, 'must be a power of 2, not 3'],
    ['roundup_power2_divisions:[256:1', 31, 31, "Expected ']', but the text ends here"],
    ['roundup_power2_divisions:[300:1]', 26, 29, "powers of 2 (in MiB) or '>', not '300'"],
    ['backend:cudaMallocAsync', 8, 23, 'not simulated'],
    ['no_such_option:1', 0, 14, 'One of backend, '],
    [',', 0, 1, "Expected an option, not ','"],
  ])('%s', (text, position, end, message) => {
    const conf = parseAllocConf(text);
    expect(conf).toMatchObject({ ok: false, text, position, end });
    expect(conf.ok ? '' : conf.message).toContain(message);
  });

  test('any text gives settings, or an error inside it', () => {
    const piece = fc.constantFrom(...PRESETS, ':', ',', '[', ']', '>', '8', 'True', ' ', 'ü', '-1');
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        const text = pieces.join('');
        const conf = parseAllocConf(text);
        if (conf.ok) return;
        expect(conf.position).toBeGreaterThanOrEqual(0);
        expect(conf.end).toBeGreaterThanOrEqual(conf.position);
        expect(conf.end).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
