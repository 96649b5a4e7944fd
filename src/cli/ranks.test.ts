import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture } from '../testing/byte-source.ts';
import { cli } from '../testing/cli-run.ts';
import { equalRanks } from '../testing/ranks.ts';

const FLEET = 'fixtures/fleet';
const root = mkdtempSync(join(tmpdir(), 'vramscope-ranks-'));
afterAll(() => rmSync(root, { recursive: true }));

function folder(name: string): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Two snapshots and two summaries of a job whose rank 2 leaks. */
function leakyJob(name: string): string {
  const path = folder(name);
  for (const rank of [0, 1]) {
    copyFileSync(
      `${FLEET}/fsdp2_rank${rank}.vramscope.json`,
      join(path, `rank${rank}.vramscope.json`),
    );
  }
  for (const rank of [2, 3])
    copyFileSync(`${FLEET}/fsdp2_rank${rank}.pickle.gz`, join(path, `rank${rank}.pickle.gz`));
  return path;
}

const ranksJson = async (...args: string[]) =>
  JSON.parse((await cli(['ranks', ...args, '--json'])).out);

describe('vramscope ranks', () => {
  let job = '';
  beforeAll(() => {
    job = leakyJob('job');
    writeFileSync(join(job, 'rank0.truth.json'), '{}');
    writeFileSync(join(job, 'rank0.log'), 'started');
  });

  it('finds the rank that leaks, and the line', async () => {
    const report = await ranksJson(job);
    expect(report.schema).toBe('vramscope.ranks/1');
    expect(
      report.ranks.map(({ rank, device, role }: Record<string, unknown>) => [rank, device, role]),
    ).toEqual([
      [0, 0, 'A'],
      [1, 1, 'A'],
      [2, 2, 'A'],
      [3, 3, 'A'],
    ]);
    expect(report.ranks[2]).toMatchObject({
      file: { name: join(job, 'rank2.pickle.gz') },
      peak: { allocatedBytes: 635420160, reservedBytes: 769654784 },
      ooms: 0,
      recording: 'complete',
    });
    expect(report.outliers).toMatchObject([
      {
        rank: 2,
        counter: 'allocatedBytes',
        bytes: 635420160,
        aboveRoleBytes: 92274688,
        cause: 'growth',
        frame: { line: 26, name: 'fsdp2' },
      },
    ]);
    expect(report.outliers[0].frame.file).toMatch(/fleet\.py$/);
    expect(report.verdict).toContain('Rank 2 keeps 8.02 MiB every step at fleet.py:26 (fsdp2)');
    expect(report.problems).toEqual([]);
  });

  it('says so in text and in Markdown', async () => {
    const [text, markdown] = await Promise.all([
      cli(['ranks', job]),
      cli(['ranks', job, '--markdown']),
    ]);
    expect(text.out).toContain('Rank 2: +88.00 MiB (17%) allocated, growth, fleet.py:26 (fsdp2)');
    for (const line of text.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(markdown.out).toContain(
      '| 2 | A | 605.98 MiB | 734.00 MiB | +88.00 MiB |  | outlier: growth |',
    );
  });

  it('reads files as they are named, and summaries that are compressed', async () => {
    const path = folder('gz');
    const files = equalRanks(4).map(({ path: name, summary }) => {
      writeFileSync(join(path, `${name}.gz`), gzipSync(JSON.stringify(summary)));
      return join(path, `${name}.gz`);
    });
    const { ranks, outliers } = await ranksJson(...files);
    expect(ranks.map(({ rank }: { rank: number }) => rank)).toEqual([0, 1, 2, 3]);
    expect(outliers).toEqual([]);
  });

  it('takes ranks from folder names, or from where --pattern says', async () => {
    const path = folder('nested');
    equalRanks(3).forEach(({ summary }, i) => {
      mkdirSync(join(path, `gpu${i + 4}`));
      writeFileSync(
        join(path, `gpu${i + 4}`, 'memory.vramscope.json'),
        JSON.stringify({ ...summary, rank: null }),
      );
    });
    const counted = await ranksJson(path);
    expect(counted.ranks.map(({ rank }: { rank: number }) => rank)).toEqual([0, 1, 2]);
    const named = await ranksJson(path, '--pattern', 'gpu(\\d+)');
    expect(named.ranks.map(({ rank }: { rank: number }) => rank)).toEqual([4, 5, 6]);
    expect(named.problems).toMatchObject([{ code: 'missing-ranks' }]);
  });

  it('follows links, each target once, without looping', async () => {
    const path = folder('linked');
    mkdirSync(join(path, 'a'));
    for (const name of ['all', 'files']) symlinkSync(job, join(path, 'a', name));
    symlinkSync(path, join(path, 'a', 'circle'));
    symlinkSync(join(path, 'nowhere'), join(path, 'rank9.pickle'));
    const alone = folder('linked-file');
    symlinkSync(join(job, 'rank2.pickle.gz'), join(alone, 'oom_rank7.pickle.gz'));
    const report = await ranksJson(path);
    expect(report.ranks.map(({ rank }: { rank: number }) => rank)).toEqual([0, 1, 2, 3]);
    expect(report).toMatchObject({ problems: [], outliers: [{ rank: 2 }] });
    expect((await ranksJson(alone)).ranks).toMatchObject([{ rank: 7, moment: 'oom' }]);
  });

  it('names each bad file of a large job and shows the rest', async () => {
    const path = folder('bad');
    for (const { path: name, summary } of equalRanks(300)) {
      writeFileSync(join(path, name), JSON.stringify(summary));
    }
    const text = readFileSync(join(path, 'rank7.vramscope.json'), 'utf8');
    writeFileSync(join(path, 'rank7.vramscope.json'), text.slice(0, 9000));
    writeFileSync(join(path, 'rank8.vramscope.json'), text.replace('summary/1', 'summary/9'));
    rmSync(join(path, 'rank9.vramscope.json'));
    writeFileSync(
      join(path, 'rank9.pickle'),
      gunzipSync(fixture('fleet/fsdp2_rank3.pickle.gz')).subarray(0, 90_000),
    );
    writeFileSync(
      join(path, 'again_rank5.vramscope.json'),
      text.replace(/"events":\d+/, '"events":5'),
    );
    symlinkSync('/', join(path, 'everything'));
    const { exitCode, out } = await cli(['ranks', path]);
    expect(exitCode).toBe(0);
    expect(out).toContain('No outlier: 297 ranks');
    for (const file of [
      'rank7.vramscope.json',
      'rank8.vramscope.json',
      'rank9.pickle',
      'again_rank5.vramscope.json',
    ]) {
      expect(out.replace(/\s+/g, '')).toContain(file);
    }
    const { problems } = await ranksJson(path);
    expect(problems.map(({ code }: { code: string }) => code).sort()).toEqual([
      'missing-ranks',
      'newer-summary',
      'two-files-of-one-rank',
      'unreadable',
      'unreadable',
    ]);
    const partial = await ranksJson(path, '--partial');
    expect(partial.ranks).toHaveLength(298);
    expect(partial.problems.map(({ code }: { code: string }) => code)).toContain('partial');
  });

  it('takes roles from --layout, a file or sizes', async () => {
    const layout = join(root, 'layout.json');
    writeFileSync(
      layout,
      '{"roles": [{"name": "left", "ranks": [0, 1]}, {"name": "right", "ranks": [2, 3]}]}',
    );
    const { roles } = await ranksJson(job, '--layout', layout);
    expect(roles.map(({ name }: { name: string }) => name)).toEqual(['left', 'right']);
    expect((await ranksJson(job, '--layout', 'pp2,dp2')).roles).toHaveLength(2);
  });

  it.each([
    [['ranks', join(root, 'nowhere')], 3, 'No such file'],
    [['ranks', root, '--layout', 'pp'], 2, "'pp' is not a dimension"],
    [['ranks', root, '--pattern', '('], 2, 'Invalid regular expression'],
    [['ranks', root, '--json', '--markdown'], 2, 'cannot be used with option'],
    [['ranks', 'src/cli'], 3, 'No snapshots and no summaries'],
    [['ranks', 'fixtures/fleet/fsdp2_rank2.truth.json'], 3, 'truth.json'],
  ])('%j ends with %i', async (args, code, message) => {
    const { exitCode, out, error } = await cli(args);
    expect({ exitCode, out }).toEqual({ exitCode: code, out: '' });
    expect(error).toContain(message);
  });
});

describe('vramscope summarize', () => {
  it('writes a summary that ranks can read, with the given rank', async () => {
    const path = folder('summaries');
    const target = join(path, 'x.vramscope.json');
    const { exitCode, out } = await cli([
      'summarize',
      `${FLEET}/fsdp2_rank2.pickle.gz`,
      '-o',
      target,
      '--rank',
      '11',
    ]);
    expect(exitCode).toBe(0);
    expect(out).toContain('x.vramscope.json');
    const summary = JSON.parse(readFileSync(target, 'utf8'));
    expect(summary).toMatchObject({
      schema: 'vramscope.summary/1',
      vramscope: '9.9.9',
      rank: 11,
      device: 2,
    });
    expect((await ranksJson(path)).ranks).toMatchObject([{ rank: 11, device: 2 }]);
    expect(
      (await cli(['summarize', `${FLEET}/fsdp2_rank2.pickle.gz`, '-o', target])).error,
    ).toContain('already exists');
  });
});

it('a file without a device is refused, and does not stop the others', async () => {
  const path = folder('empty');
  const empty = join(path, 'rank0.pickle');
  writeFileSync(empty, '].');
  const alone = await cli(['summarize', empty, '-o', join(path, 'out.json')]);
  expect(alone).toMatchObject({ exitCode: 3, error: expect.stringContaining('no device') });
  copyFileSync(`${FLEET}/fsdp2_rank1.vramscope.json`, join(path, 'rank1.vramscope.json'));
  const { exitCode, out, error } = await cli(['ranks', path]);
  expect([exitCode, error]).toEqual([0, '']);
  expect(out).toContain('no device');
});
