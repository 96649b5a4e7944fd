import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseReport, REPORT_ELEMENT_ID } from '../output/report/report-page.ts';
import { cli } from '../testing/cli-run.ts';

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
