import { describe, expect, test } from 'vitest';
import { cli } from '../testing/cli-run.ts';

const LEAK = 'fixtures/leak_forward_hook.pickle.gz';
const HEALTHY = 'fixtures/train_gpt_small.pickle.gz';

describe('vramscope analyze', () => {
  test('text names the line', async () => {
    const { exitCode, out, error } = await cli(['analyze', LEAK]);
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
    expect(out).toContain('scenarios.py:271');
    expect(out).toContain('HIGH growth: kept-hook');
  });

  test('JSON follows its schema', async () => {
    const { exitCode, out } = await cli(['analyze', '--json', LEAK]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      schema: 'vramscope.findings/2',
      file: { name: 'leak_forward_hook.pickle.gz', container: 'gzip', decoder: 'columnar' },
    });
  });

  test('Markdown has headings', async () => {
    const { out } = await cli(['analyze', '--markdown', LEAK]);
    expect(out).toMatch(/^## \d+ findings? in /);
    expect(out).toContain('### HIGH growth');
  });
});

describe('the simulated peak of expandable segments', () => {
  const SENTENCE =
    "would have served the request that failed under this process's limit of at least 6.00 GiB, reserving 2.64 GiB; what came next is not in the recording";

  test.each([[[]], [['--json']], [['--markdown']]])(
    '%j quotes it for fragmentation',
    async (options) => {
      const { out } = await cli(['analyze', 'fixtures/oom_fragmented.pickle.gz', ...options]);
      expect(out.replace(/\s+/g, ' ')).toContain(SENTENCE);
    },
  );

  test('other findings do not quote it', async () => {
    const { out } = await cli(['analyze', LEAK]);
    expect(out).not.toContain('Simulated');
  });
});

describe('--fail-on', () => {
  test.each([
    ['growth', LEAK, 1],
    ['fragmentation,oom', LEAK, 0],
    ['growth,fragmentation,oom', 'fixtures/oom_fragmented.pickle.gz', 1],
    ['growth', HEALTHY, 0],
    // Of low severity: reported, but not a failure.
    ['oom,growth', 'fixtures/kv_cache_generate.pickle.gz', 0],
    ['growth', 'fixtures/no_history.pickle.gz', 0],
    // By its former name.
    ['churn', 'fixtures/oom_fragmented.pickle.gz', 1],
  ])('%s on %s: %d', async (detectors, path, expected) => {
    const { exitCode, out } = await cli(['analyze', path, '--fail-on', detectors]);
    expect(exitCode).toBe(expected);
    expect(out).not.toBe('');
  });

  test.each([
    [['--fail-on', 'leaks'], "'leaks' is not a detector. Use one of growth"],
    [['--json', '--markdown'], "option '--json' cannot be used with option '--markdown'"],
  ])('%j is bad usage', async (options, message) => {
    const { exitCode, out, error } = await cli(['analyze', LEAK, ...options]);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain(message);
  });

  test('a file that cannot be read gives 3, whatever --fail-on says', async () => {
    const { exitCode } = await cli(['analyze', 'fixtures/nope', '--fail-on', 'oom']);
    expect(exitCode).toBe(3);
  });
});
