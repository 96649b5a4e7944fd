import { describe, expect, it } from 'vitest';
import { formatCount } from '../../base/format.ts';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import { captureNames, loadCapture, statsOfDevice, truthOf } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { fleetSummary } from '../../testing/ranks.ts';
import { readSummary } from './read-rank-file.ts';
import { summarize, summaryText } from './summarize.ts';
import { MAX_SUMMARY_BYTES, type RankSummary } from './types.ts';

const fileOf = (name: string): FileInfo => ({
  name,
  bytes: 1,
  container: 'gzip',
  protocol: 4,
  decoder: 'columnar',
  partial: undefined,
});

const summaryOf = (name: string): Promise<RankSummary> =>
  summarize(fileOf(name), contextsOf(loadCapture(`${name}.pickle.gz`)), { version: '9.9.9' });

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

describe('a summary', () => {
  it.each(captureNames().filter((name) => !/^whatif|settings|protocols_p/.test(name)))(
    "%s: fits, can be read back, and adds up to the allocator's figures",
    async (name) => {
      const summary = await summaryOf(name.replace('.pickle.gz', ''));
      const text = summaryText(summary);
      expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(MAX_SUMMARY_BYTES);
      expect(readSummary(text)).toEqual(summary);
      const peak = summary.peak.allocatedBytes.bytes ?? 0;
      const { callSites, otherSites, classes, curve, steps } = summary;
      expect(sum(callSites.map(({ peakBytes }) => peakBytes)) + otherSites.peakBytes).toBe(peak);
      expect(sum(classes.map(({ peakBytes }) => peakBytes))).toBe(peak);
      expect(sum(callSites.map(({ endBytes }) => endBytes)) + otherSites.endBytes).toBe(
        summary.end.allocatedBytes,
      );
      if (curve.allocatedBytes.length > 0) expect(Math.max(...curve.allocatedBytes)).toBe(peak);
      expect(Math.max(0, ...(steps?.allocatedBytes ?? []))).toBeLessThanOrEqual(peak);
    },
  );

  it('escapes what no terminal and no model should get, and keeps it', async () => {
    const name = 'step\u202e\u200b\u{e0041}';
    const frames = [{ filename: '/w/train.py', line: 1, name }];
    const entry = { action: 'alloc', addr: 2 ** 20, size: 512, frames };
    const text = summaryText(
      await summarize(fileOf('x'), [contextOf(traceOf(entry))], { version: '9.9.9' }),
    );
    expect(text).toContain('step\\u202e\\u200b\\udb40\\udc41');
    expect(readSummary(text).callSites[0]?.frame?.name).toBe(name);
  });

  it('is of the device with the memory, and has the peaks of memory_stats()', async () => {
    const summary = await summaryOf('fleet/fsdp2_rank2');
    const stats = statsOfDevice(truthOf('fleet/fsdp2_rank2.pickle.gz'), 2);
    expect(summary.device).toBe(2);
    expect(summary.rank).toBe(2);
    expect(summary.peak.allocatedBytes.bytes).toBe(stats['allocated_bytes.all.peak']);
    expect(summary.peak.reservedBytes.bytes).toBe(stats['reserved_bytes.all.peak']);
    expect(summary.end.allocatedBytes).toBe(stats['allocated_bytes.all.current']);
  });

  it("names the line that keeps memory by its call site's key", async () => {
    const { findings, callSites } = await summaryOf('fleet/fsdp2_rank2');
    const growth = findings.find(({ detector }) => detector === 'growth');
    const site = callSites.find(({ key }) => key === growth?.sites[0]);
    expect(site?.frame?.line).toBe(26);
    expect(site?.endBytes).toBeGreaterThan(80 * 2 ** 20);
  });

  it('keeps the highest value of each step', async () => {
    const { steps, peak } = await summaryOf('fleet/fsdp2_rank2');
    expect(steps?.count).toBe(12);
    expect(steps?.allocatedBytes).toHaveLength(12);
    // Each keeps 8 MiB more, and the last is the highest.
    const { allocatedBytes = [] } = steps ?? {};
    const rises = allocatedBytes.slice(3).map((bytes, i) => bytes - (allocatedBytes[i + 2] ?? 0));
    expect(Math.min(...rises)).toBeGreaterThan(7 * 2 ** 20);
    expect(Math.max(...rises)).toBeLessThan(9 * 2 ** 20);
    expect(allocatedBytes.at(-1)).toBe(peak.allocatedBytes.bytes);
  });

  it('has the same keys as other ranks of its job, whatever machine they ran on', async () => {
    const own = await summaryOf('fleet/fsdp2_rank3');
    const other = fleetSummary('fsdp2_rank0');
    expect(own.program).toEqual(other.program);
    expect(own.callSites.map(({ key }) => key)).toEqual(other.callSites.map(({ key }) => key));
  });

  it("has the same keys wherever a rank's files are", async () => {
    const [node, home] = await Promise.all(
      ['/mnt/node3/job', '/home/x'].map((folder) => {
        const frames = [{ filename: `${folder}/train.py`, line: 7, name: 'step' }];
        const entry = { action: 'alloc', addr: 2 ** 20, size: 512, frames };
        return summarize(fileOf('x'), [contextOf(traceOf(entry))], { version: '9.9.9' });
      }),
    );
    expect(node?.program).toEqual(home?.program);
    expect(node?.callSites[0]?.key).toBe(home?.callSites[0]?.key);
  });

  it('has the same keys with C++ stacks as without', async () => {
    const [python, all] = await Promise.all(
      ['python', 'all'].map((stacks) => summaryOf(`pairs/gpt_train.${stacks}`)),
    );
    const named = ({ callSites }: RankSummary) =>
      callSites.filter(({ frame, peakBytes }) => frame?.file.endsWith('.py') && peakBytes > 0);
    const keys = new Set(named(all as RankSummary).map(({ key }) => key));
    for (const { key } of named(python as RankSummary)) expect(keys).toContain(key);
  });

  it('of 3,000 call sites with long names also fits, says what it left out, and totals it', async () => {
    const entries = Array.from({ length: 3000 }, (_, i) => ({
      action: 'alloc',
      addr: 2 ** 20 + 512 * i,
      size: 512,
      frames: [
        { filename: `/workspace/${'deep/'.repeat(80)}${i}.py`, line: i, name: 'é'.repeat(900) },
      ],
    }));
    const summary = await summarize(fileOf('x'), [contextOf(traceOf(...entries))], {
      version: '9.9.9',
    });
    const { callSites, otherSites, leftOut } = summary;
    expect(new TextEncoder().encode(summaryText(summary)).length).toBeLessThanOrEqual(
      MAX_SUMMARY_BYTES,
    );
    expect(callSites.length).toBeGreaterThan(10);
    expect(callSites.length + otherSites.sites).toBe(3000);
    expect(otherSites.peakBytes).toBe(512 * otherSites.sites);
    expect(leftOut[0]).toBe(
      `${formatCount(otherSites.sites)} call sites (summed up in otherSites)`,
    );
  });
});

describe('reading', () => {
  const text = summaryText(fleetSummary('fsdp2_rank0'));
  const failure = (broken: string): unknown => {
    try {
      readSummary(broken);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it('names a newer version', () => {
    const newer = text.replace('summary/1', 'summary/2');
    expect(failure(newer)).toMatchObject({
      failure: { code: 'newer-summary', message: expect.stringContaining('version 2') },
    });
  });

  it.each([
    ['cut short', text.slice(0, 5000)],
    ['empty', ''],
    ['another JSON', '{"a": 1}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text for a number', text.replace(/"events":\d+/, '"events":"many"')],
    [
      'more bytes than a number can count',
      text.replace(/"events":\d+/, '"events":1180591620717411303424'),
    ],
    ['an endless number', text.replace(/"events":\d+/, '"events":1e999')],
    ['a curve of texts', text.replace(/"allocatedBytes":\[\d+/, '"allocatedBytes":["x"')],
    ['no call sites', text.replace('"callSites"', '"sites"')],
  ])('refuses one that is damaged: %s', (_, broken) => {
    expect(failure(broken)).toMatchObject({ failure: { code: 'bad-summary' } });
  });
});
