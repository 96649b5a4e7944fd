import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { CURVE_POINTS } from '../../analysis/ranks/job-view.ts';
import { bytesSource, fixture } from '../../testing/byte-source.ts';
import { InThreadWorker } from '../../testing/in-thread-worker.ts';
import type { OpenSource } from '../protocol.ts';
import { createRanksClient, type RankSource, type RanksClient } from './client.ts';
import { serveRanks } from './serve-ranks.ts';

const opened: RanksClient[] = [];
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});

/** Workers in this thread. `dies`: when it reads such a file, as when a browser ends a tab's worker. */
function clientWith(dies: (path: string) => boolean = () => false) {
  const count = { started: 0, alive: 0, most: 0 };
  const sourceOf = async (source: OpenSource) => {
    if (source.kind !== 'blob') throw new Error('no files of servers here');
    if (dies(source.name)) throw new Error('out of memory');
    return bytesSource(new Uint8Array(await source.blob.arrayBuffer()), source.name);
  };
  class CountedWorker extends InThreadWorker {
    constructor() {
      super((page) => serveRanks(page, { version: '9.9.9', sourceOf }));
      count.started++;
      count.alive++;
      count.most = Math.max(count.most, count.alive);
    }
    override terminate(): void {
      super.terminate();
      count.alive--;
    }
  }
  const client = createRanksClient({
    readers: 2,
    createWorker: () => new CountedWorker(),
  });
  opened.push(client);
  return { client, count };
}

const blobOf = (path: string, bytes: Uint8Array): RankSource => ({
  path,
  source: { kind: 'blob', blob: new Blob([new Uint8Array(bytes)]), name: path },
});

const JOB: readonly RankSource[] = [
  ...[0, 1].map((rank) =>
    blobOf(
      `rank${rank}.vramscope.json`,
      readFileSync(`fixtures/fleet/fsdp2_rank${rank}.vramscope.json`),
    ),
  ),
  ...[2, 3].map((rank) =>
    blobOf(`rank${rank}.pickle.gz`, fixture(`fleet/fsdp2_rank${rank}.pickle.gz`)),
  ),
];

describe('the workers of the ranks page', () => {
  it('read a job of snapshots and summaries, and keep only summaries', async () => {
    const { client, count } = clientWith();
    const progress: number[] = [];
    await client.read(JOB, (done) => progress.push(done));
    const job = await client.query('job', undefined);
    expect(progress.at(-1)).toBe(4);
    // Readers end together with their tables; the worker that holds the summaries stays.
    expect(count).toEqual({ started: 3, alive: 1, most: 3 });
    expect(job.ranks.map(({ rank, steps }) => [rank, steps])).toEqual([
      [0, 12],
      [1, 12],
      [2, 12],
      [3, 12],
    ]);
    expect(job.outliers).toMatchObject([{ rank: 2, cause: 'growth' }]);
    const [, , leaky] = job.ranks;
    expect(leaky?.classBytes.reduce((sum, bytes) => sum + bytes, 0)).toBe(leaky?.allocatedBytes);
    const curve = job.curves.subarray(2 * CURVE_POINTS, 3 * CURVE_POINTS);
    expect(Math.max(...curve)).toBe(Math.fround(leaky?.allocatedBytes ?? 0));
    expect(job.heatSteps).toBe(12);
    expect(job.heat).toHaveLength(4 * 12);
  });

  it('compare a rank with the median of its role', async () => {
    const { client } = clientWith();
    await client.read(JOB, () => undefined);
    const details = await client.query('details', { rank: 2 });
    expect(details?.lines[0]).toMatchObject({ label: 'fleet.py:26 (fsdp2)', roleBytes: 0 });
    expect(details?.middleRanks).toEqual([0, 1, 3]);
    expect(details?.stepEvents).toHaveLength(12);
    const healthy = await client.query('details', { rank: 0 });
    // A rank like the others: what it holds, largest first.
    expect(healthy?.lines.every(({ roleBytes }) => roleBytes === null)).toBe(true);
    expect(await client.query('details', { rank: 77 })).toBeUndefined();
    expect(await client.query('markdown', undefined)).toContain('| 2 | A | 605.98 MiB |');
  });

  it('continue if one file cannot be read', async () => {
    const { client } = clientWith((path) => path === 'rank2.pickle.gz');
    const text = blobOf('rank7.vramscope.json', new TextEncoder().encode('{"schema":'));
    await client.read([...JOB, text], () => undefined);
    const { ranks, problems } = await client.query('job', undefined);
    expect(ranks.map(({ rank }) => rank)).toEqual([0, 1, 3]);
    expect(problems.map(({ code, files }) => [code, files])).toEqual([
      ['missing-ranks', []],
      ['unreadable', ['rank7.vramscope.json']],
      ['unreadable', ['rank2.pickle.gz']],
    ]);
  });
});
