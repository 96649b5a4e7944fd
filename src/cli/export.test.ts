import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EXPORT_KINDS } from '../output/export/exports.ts';
import { cli } from '../testing/cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'vramscope-export-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SOURCE = 'fixtures/cuda_graph_pool.pickle.gz';
const WITH_LEDGER = 'fixtures/record/ledger/card.pickle.gz';

describe('vramscope export', () => {
  it.each(EXPORT_KINDS)('--as %s writes a file and says so', async (kind) => {
    const path = join(folder, kind);
    const source = kind === 'card-csv' ? WITH_LEDGER : SOURCE;
    const { exitCode, out } = await cli(['export', source, '--as', kind, '-o', path]);
    expect(exitCode).toBe(0);
    expect(out).toContain(path);
    const start = readFileSync(path).subarray(0, 300).toString('latin1');
    const begins = {
      'counters-csv': 'event,',
      'card-csv': 'event,time_us,moment,step,row,bytes',
      'allocations-csv': 'allocation,',
      'events-csv': 'event,',
      'allocations-arrow': 'ARROW1',
      'events-arrow': 'ARROW1',
      perfetto: '{"displayTimeUnit"',
      folded: '',
      speedscope: '{',
    }[kind];
    expect(start.startsWith(begins)).toBe(true);
    expect(start.length).toBeGreaterThan(100);
  });

  it('says what is missing, and what it cannot write', async () => {
    expect(await cli(['export', SOURCE])).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('--as'),
    });
    expect(await cli(['export', SOURCE, '--as', 'svg'])).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('counters-csv'),
    });
    const none = await cli([
      'export',
      'fixtures/no_history.pickle.gz',
      '--as',
      'perfetto',
      '-o',
      '/dev/null',
    ]);
    expect(none).toMatchObject({ exitCode: 3, error: expect.stringContaining('no times') });
  });
});
