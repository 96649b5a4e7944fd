import { expect, test } from 'vitest';
import { parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { recordedRun } from '../../allocator/simulator/recorded-run.ts';
import { simulate, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { whatIfSentence } from './what-if-citation.ts';

const GIB = 2 ** 30;
const EXPANDABLE = 'expandable_segments:True';

function run(capture: string, setting: string, limitBytes?: number | 'recorded') {
  const [{ trace, replay, snapshot }] = contextsOf(loadCapture(`${capture}.pickle.gz`));
  const input = whatIfInput(trace, replay, snapshot.settings);
  const recorded = recordedRun(input, 1);
  const conf = parseAllocConf(setting);
  if (!conf.ok) throw new Error(conf.message);
  const limit = limitBytes === 'recorded' ? recorded.limit?.likelyBytes : limitBytes;
  return { recorded, result: simulate(input, conf, { limitBytes: limit }) };
}

function sentence(...args: Parameters<typeof run>): string {
  const { recorded, result } = run(...args);
  return whatIfSentence(result, recorded);
}

test.each([
  ['frag_gpt_varlen', 'would have needed 5.44 GiB instead of 15.86 GiB'],
  ['leak_forward_hook', 'would have needed 276.00 MiB instead of 264.00 MiB'],
  // The recording begins late: the recorded run had more cached than the simulated one starts with.
  [
    'train_ring_truncated',
    'would have needed 1.29 GiB instead of 1.31 GiB, starting with 686.00 MiB less reserved: without the cache from before the recording (confidence medium)',
  ],
  // Fragmented: the failed request would have fit.
  [
    'oom_fragmented',
    "would have served the request that failed under this process's limit of at least 6.00 GiB, reserving 2.64 GiB; what came next is not in the recording (confidence low)",
  ],
])('%s with expandable segments', (capture, expected) => {
  expect(sentence(capture, EXPANDABLE, 'recorded')).toBe(expected);
});

test('says if a setting must release the cache again and again', () => {
  expect(sentence('frag_gpt_varlen', '', 6 * GIB)).toMatch(
    /^would have needed 5\.\d+ GiB under a limit of 6\.00 GiB instead of 15\.86 GiB, releasing its whole cache \d\d times$/,
  );
});

test('a request that is too large fails under any setting', () => {
  expect(sentence('oom_batch_too_big', EXPANDABLE, 'recorded')).toMatch(
    /^would have run out of memory under a limit of 11\.88 GiB, the least that it can have been, too, at event [\d,]+ \(confidence low\)$/,
  );
});

test('without a limit nothing fails, which says nothing about the real device', () => {
  expect(sentence('oom_fragmented', '')).toBe(
    'would have reserved 24.25 GiB where nothing limits it, with the request that failed served; what came next is not in the recording (confidence low)',
  );
});

test('a run that fails where the recorded one did not says where, and how much is missing', () => {
  expect(sentence('train_gpt_small', '', GIB)).toMatch(
    /^would have run out of memory under a limit of 1\.00 GiB at event [\d,]+: .+ was requested, which takes a limit .+ higher$/,
  );
});

test('an equal result is called the same', () => {
  expect(sentence('train_gpt_small', '')).toBe('would have needed the same 1.31 GiB');
});
