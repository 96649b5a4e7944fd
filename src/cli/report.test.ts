import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeLines } from '../device/model/source-code.ts';
import { parseReport, REPORT_ELEMENT_ID } from '../output/report/report-page.ts';
import { cli } from '../testing/cli-run.ts';
import { openSnapshot } from './open-snapshot.ts';

const folder = mkdtempSync(join(tmpdir(), 'vramscope-report-'));
const SHELL = '<!doctype html><html><head><meta charset="utf-8" /><title>x</title></head></html>';

beforeAll(() => {
  mkdirSync(join(folder, 'page'));
  writeFileSync(join(folder, 'page', 'vramscope.html'), SHELL);
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]) => cli(args, undefined, join(folder, 'page'));
const output = join(folder, 'out.html');

async function statsOf(path: string) {
  const { out } = await run('stats', path, '--json');
  return JSON.parse(out);
}

it('contains the same figures as the snapshot, and says what it was made from', async () => {
  const source = 'fixtures/train_gpt_small.pickle.gz';
  const notes = 'See </script><b>here</b>';
  const made = await run('report', source, '-o', output, '--notes', notes);
  expect(made.exitCode).toBe(0);
  const page = readFileSync(output, 'utf8');
  const json = new RegExp(`id="${REPORT_ELEMENT_ID}">(.*?)</script>`, 's').exec(page)?.[1] ?? '';
  expect(parseReport(json)).toMatchObject({
    kind: 'report',
    report: { title: 'train_gpt_small.pickle.gz', notes, version: '9.9.9' },
  });
  // A report can be read like any other file.
  expect(await statsOf(output)).toEqual(await statsOf(source));
});

it('contains only a part, without paths or stacks, if requested', async () => {
  const source = 'fixtures/train_annotated.pickle.gz';
  await run('report', source, '--force', '-o', output, '--events', '1000..2000', '--short-paths');
  const [part] = (await statsOf(output)).devices;
  expect(part).toMatchObject({ events: 1000, recording: 'preexisting', anomalies: 0 });
  await run('report', source, '--force', '-o', output, '--no-stacks');
  const [bare] = (await statsOf(output)).devices;
  const [whole] = (await statsOf(source)).devices;
  expect(bare.peak).toEqual(whole.peak);
  expect(bare.frames).toBe(0);
});

it('says what is wrong with a request', async () => {
  const source = 'fixtures/cuda_graph_pool.pickle.gz';
  expect(await run('report', source, '--events', '9..3')).toMatchObject({ exitCode: 2 });
  const missing = await run('report', source, '--device', '7');
  expect(missing).toMatchObject({ exitCode: 3, error: expect.stringContaining('position 7') });
  const unwritable = await run('report', source, '-o', join(folder, 'no', 'such', 'x.html'));
  expect(unwritable).toMatchObject({ exitCode: 3, error: expect.stringContaining('written') });
  const unbuilt = await cli(['report', source], undefined, join(folder, 'nowhere'));
  expect(unbuilt).toMatchObject({ exitCode: 3, error: expect.stringContaining('npm run build') });
});

it('is served, and the address is printed', async () => {
  writeFileSync(join(folder, 'page', 'index.html'), SHELL);
  const args = ['fixtures/empty.pickle.gz', '--port', '0'];
  const served = await cli(args, undefined, join(folder, 'page'), AbortSignal.abort());
  expect(served.exitCode).toBe(0);
  expect(served.out).toMatch(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\?snapshot=files\/0\/empty/);
  expect(served.out).toContain('ssh -N -L');
  const missing = await run('fixtures/none.pickle');
  expect(missing).toMatchObject({ exitCode: 3, error: expect.stringContaining('none.pickle') });
});

describe('the code around the lines that the verdict and the findings name', () => {
  /** The same recording, with its code inside. */
  const recorded = 'fixtures/record/source.pkl.gz';
  const plain = 'fixtures/pairs/leak_forward_hook.python.pickle.gz';
  const LEAK = 'features.append(output.detach().clone())';

  async function snapshotOf(...args: string[]) {
    const { error } = await run('report', ...args, '--force', '-o', output);
    const { snapshot } = await openSnapshot(process, output, {});
    const json = readFileSync(output, 'utf8').match(/"base64":"([^"]+)"/)?.[1] ?? '';
    const text = gunzipSync(Buffer.from(json, 'base64')).toString('latin1');
    return { source: snapshot.source, hasCode: text.includes('features.append'), error };
  }

  it('is in the report if it was recorded, and no more than that', async () => {
    const { source } = await snapshotOf(recorded);
    const [file] = source?.files ?? [];
    expect(file).toMatchObject({ origin: 'recording', isWhole: false });
    const lines = [...codeLines(file?.pieces ?? [])];
    expect(lines.find(([line]) => line === 338)?.[1]).toContain(LEAK);
    expect(lines.map(([line]) => line)).toEqual(expect.arrayContaining([335, 341]));
    const whole = (await openSnapshot(process, recorded, {})).snapshot.source?.files[0];
    expect(lines.length).toBeLessThan(codeLines(whole?.pieces ?? []).size / 10);
  });

  it('comes from a folder if asked to', async () => {
    expect((await snapshotOf(plain)).source).toBeUndefined();
    const { source, hasCode } = await snapshotOf(plain, '--source', 'fixtures/pairs');
    expect(source?.files[0]).toMatchObject({ origin: 'folder', isWhole: false });
    expect(hasCode).toBe(true);
    const none = await snapshotOf(plain, '--source', 'e2e');
    expect(none).toMatchObject({ hasCode: false, error: expect.stringContaining('has no line') });
  });

  it.each(['--no-source', '--short-paths', '--no-stacks', '--no-holders'])(
    'is left out with %s',
    async (option) => {
      expect(await snapshotOf(recorded, option)).toMatchObject({
        source: undefined,
        hasCode: false,
      });
    },
  );

  it('is left out even if asked for when something else is', async () => {
    const made = await snapshotOf(plain, '--source', 'fixtures/pairs', '--short-paths');
    expect(made).toMatchObject({ hasCode: false, error: expect.stringContaining('holds no code') });
  });

  it('is the verdict’s line in a terminal, and in nothing that is passed on', async () => {
    expect((await run('analyze', recorded)).out).toContain(LEAK);
    expect((await run('analyze', plain, '--source', 'fixtures/pairs')).out).toContain(LEAK);
    for (const form of ['--markdown', '--json'])
      expect((await run('analyze', recorded, form)).out).not.toContain('features.append');
  });
});
