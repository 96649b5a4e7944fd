import { describe, expect, test } from 'vitest';
import { cli } from '../testing/cli-run.ts';

const FRAGMENTED = 'fixtures/frag_gpt_varlen.pickle.gz';

test('whatif --json is vramscope.whatif/1, with the figures of the real runs', async () => {
  const settings = ['expandable_segments:True', ''];
  const args = settings.flatMap((setting) => ['--setting', setting]);
  const { exitCode, out, error } = await cli([
    ...['whatif', FRAGMENTED, '--json', '--limit', '16GiB'],
    ...args,
  ]);
  expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
  const limitBytes = 16 * 2 ** 30;
  const native = {
    settings: '',
    peakReservedBytes: 17024679936,
    peakAllocatedBytes: 5754167808,
    ooms: 0,
    retries: 4,
  };
  const expandable = {
    settings: 'expandable_segments:True',
    limitBytes,
    peakReservedBytes: 5844762624,
    peakAllocatedBytes: 5744805376,
    ooms: 0,
    retries: 0,
  };
  expect(JSON.parse(out)).toEqual({
    schema: 'vramscope.whatif/1',
    devices: [{ device: 0, recorded: native, cases: [expandable, { ...native, limitBytes }] }],
  });
});

test('without --limit it is null; without --setting the presets are run', async () => {
  const { out } = await cli(['whatif', 'fixtures/two_devices.pickle.gz', '--json']);
  const { devices } = JSON.parse(out);
  expect(devices).toHaveLength(2);
  for (const { cases } of devices) {
    expect(cases.length).toBeGreaterThan(5);
    expect(cases[0]).toMatchObject({ settings: '', limitBytes: null });
  }
});

test('without --limit it is the one that the recorded run hit, if any; none removes it', async () => {
  const args = ['whatif', FRAGMENTED, '--setting', ''];
  const { out } = await cli(args);
  expect(out).toContain(
    'limit of at least 15.86 GiB, which the recorded run hit (--limit none runs without)',
  );
  const [limited, free] = await Promise.all(
    [[], ['--limit', 'none']].map(async (more) => {
      const { out: json } = await cli([...args, '--json', ...more]);
      return JSON.parse(json).devices[0];
    }),
  );
  expect(limited.cases[0]).toMatchObject({
    limitBytes: limited.recorded.peakReservedBytes,
    peakReservedBytes: limited.recorded.peakReservedBytes,
    retries: limited.recorded.retries,
  });
  expect(free.cases[0].limitBytes).toBeNull();
  expect(free.cases[0].peakReservedBytes).toBeGreaterThan(limited.recorded.peakReservedBytes);
});

test('the text has the best first, the line to copy and what is unknown', async () => {
  const { out } = await cli(['whatif', FRAGMENTED, '--limit', '16GiB']);
  const lines = out.split('\n');
  const head = lines.findIndex((line) => line.startsWith('settings'));
  expect(lines[head + 1]).toMatch(/^as recorded: \(default\) +15\.86 GiB +5\.36 GiB +0 +4$/);
  expect(lines[head + 2]).toMatch(/^expandable_segments:True +5\.44 GiB .* 10\.41 GiB$/);
  expect(out).toContain('Try first: PYTORCH_ALLOC_CONF=expandable_segments:True');
  expect(out).toContain('PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (before PyTorch 2.9)');
  expect(out).toContain('What the trace does not record:');
});

test('gives a range if frees waited for another stream', async () => {
  const file = 'fixtures/streams_record_stream.pickle.gz';
  const { out } = await cli(['whatif', file, '--json', '--setting', '']);
  expect(JSON.parse(out).devices[0].cases).toMatchObject([
    { peakReservedBytes: 3424 * 2 ** 20, lowestPeakReservedBytes: 288 * 2 ** 20 },
  ]);
  const text = (await cli(['whatif', file])).out.replace(/\s+/g, ' ');
  expect(text).toContain('between 288.00 MiB (no waits) and about 3.34 GiB (waits as recorded)');
});

test('no trace: no cases, and a sentence that says so', async () => {
  const file = 'fixtures/no_history.pickle.gz';
  expect(JSON.parse((await cli(['whatif', file, '--json'])).out).devices[0].cases).toEqual([]);
  expect((await cli(['whatif', file])).out).toContain('there is nothing to simulate');
});

describe('bad usage: exit code 2, one line, and where', () => {
  test.each([
    [['--setting', 'expandable_segment:True'], 'Did you mean expandable_segments? (character 1)'],
    [['--setting', 'max_split_size_mb:8'], 'must be at least 20, not 8 (character 19)'],
    [['--limit', '16 apples'], 'Enter a size such as 16GiB'],
    [['--limit', '0'], 'Enter a size such as 16GiB'],
  ])('%j', async (args, message) => {
    const { exitCode, out, error } = await cli(['whatif', FRAGMENTED, ...args]);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain(message);
    expect(error).toMatch(/^[^\n]+\n$/);
  });
});

test('as text, presets that make no difference are one line; without a limit none needs one', async () => {
  const text = async (...args: string[]) =>
    (await cli(['whatif', 'fixtures/train_gpt_small.pickle.gz', ...args])).out;
  const presets = await text();
  expect(presets).toMatch(/Would make no difference: \(default\); max_split_size_mb:128;\s[^.]*\./);
  expect(presets).toMatch(/^expandable_segments:True .* 16\.00 MiB$/m);
  expect(presets).not.toMatch(/^max_split_size_mb:128 /m);
  expect(presets).not.toContain('garbage_collection_threshold');
  // What the user asks for has its row.
  const asked = await text('--setting', 'max_split_size_mb:128');
  expect(asked).toMatch(/^max_split_size_mb:128 .* 0 bytes$/m);
  expect(await text('--limit', '1GiB')).toContain('garbage_collection_threshold');
});
