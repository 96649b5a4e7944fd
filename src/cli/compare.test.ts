import { describe, expect, it } from 'vitest';
import { cli } from '../testing/cli-run.ts';

const BASE = 'fixtures/pairs/compare/base.pickle.gz';
const BATCH = 'fixtures/pairs/compare/batch2.pickle.gz';

interface Row {
  readonly differenceBytes: number;
  readonly kind: string;
  readonly class: string;
  readonly bytesA: number;
  readonly bytesB: number;
}

const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);

describe('vramscope compare --json', () => {
  it('has the contract’s keys, and adds up to the byte', async () => {
    const { out, exitCode } = await cli(['compare', BASE, BATCH, '--json']);
    const report = JSON.parse(out);
    expect(exitCode).toBe(0);
    expect(Object.keys(report)).toEqual([
      'schema',
      'a',
      'b',
      'difference',
      'callSites',
      'classes',
      'causes',
      'settings',
      'card',
      'verdict',
      'failed',
    ]);
    expect(report).toMatchObject({ schema: 'vramscope.compare/1', settings: [], failed: [] });
    expect(Object.keys(report.b)).toEqual(['file', 'device', 'event', 'allocatedBytes', 'peak']);
    const difference = report.b.allocatedBytes - report.a.allocatedBytes;
    expect(report.a).toMatchObject({ device: 0, event: 2453 });
    expect(report.a.peak.allocatedBytes).toBe(report.a.allocatedBytes);
    expect(report.difference.allocatedBytes).toBe(difference);
    const sites: Row[] = report.callSites;
    expect(total(sites.map((site) => site.differenceBytes))).toBe(difference);
    const classes: Row[] = report.classes;
    expect(total(classes.map(({ bytesA, bytesB }) => bytesB - bytesA))).toBe(difference);
    const causes: { bytes: number; text: string }[] = report.causes;
    expect(total(causes.map(({ bytes }) => bytes))).toBe(difference);
    expect(report.verdict).toContain(causes[0]?.text);
    const sizes = sites.map((site) => Math.abs(site.differenceBytes));
    expect(sizes).toEqual([...sizes].sort((x, y) => y - x));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    expect(report.callSites[0]).toEqual({
      kind: 'larger',
      class: 'activations',
      frame: expect.objectContaining({ line: expect.any(Number) }),
      frameA: report.callSites[0].frame,
      frameB: report.callSites[0].frame,
      bytesA: 2 ** 27,
      bytesB: 2 ** 28,
      differenceBytes: 2 ** 27,
      countA: 8,
      countB: 8,
    });
  });

  it('compares the ends if requested', async () => {
    const { out } = await cli(['compare', BASE, BATCH, '--json', '--at', 'end']);
    const { a, b, difference } = JSON.parse(out);
    expect(a.event).toBe(18113);
    expect(b.allocatedBytes - a.allocatedBytes).toBe(difference.allocatedBytes);
    expect(Math.abs(difference.allocatedBytes)).toBeLessThan(2 ** 20);
  });

  it('compares another device with --device and --device-b', async () => {
    const file = 'fixtures/two_devices.pickle.gz';
    const devices = async (...args: string[]) => {
      const { a, b } = JSON.parse((await cli(['compare', file, file, '--json', ...args])).out);
      return [a.device, b.device];
    };
    expect(await devices('--device', '1')).toEqual([1, 1]);
    expect(await devices('--device', '1', '--device-b', '0')).toEqual([1, 0]);
    const { exitCode, error } = await cli(['compare', file, file, '--device', '7']);
    expect(exitCode).toBe(3);
    expect(error).toBe('vramscope: two_devices.pickle.gz has no device at position 7; it has 2.\n');
  });
});

describe('vramscope compare as text', () => {
  it('says the verdict first, then where', async () => {
    const { out } = await cli(['compare', BASE, BATCH]);
    const text = out.replace(/\s+/g, ' ');
    expect(text).toMatch(/activations at the same \d+ lines are twice as large/);
    expect(out).toMatch(
      /^scenarios\.py:52 via linear\.py:\d+ +activations +larger +8 → 8 +128\.00 MiB +256\.00 MiB +\+128\.00 MiB$/m,
    );
    expect(out).toMatch(/^rounding +4\.63 MiB +7\.25 MiB +\+2\.62 MiB$/m);
  });

  it('is Markdown for a pull request', async () => {
    const { out } = await cli(['compare', BASE, BATCH, '--markdown', '--fail-on', 'allocated:+2%']);
    expect(out).toMatch(
      /^## Memory: base\.pickle\.gz → batch2\.pickle\.gz\n\n\*\*Peak \+838\.41 MiB/,
    );
    expect(out).toContain('❌ Failed: allocated:+2% is +64.8% (1.26 GiB → 2.08 GiB).');
    expect(out).toContain('| allocated | 1.26 GiB | 2.08 GiB | +838.41 MiB |');
  });

  it('says what a file without history allows', async () => {
    const { out, exitCode } = await cli(['compare', 'fixtures/no_history.pickle.gz', BASE]);
    expect(exitCode).toBe(0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'Note: A has no history: it is compared as it was at the end',
    );
  });
});

describe('--fail-on', () => {
  it.each([
    ['allocated:+2%', 1, [{ gate: 'allocated:+2%', is: '+64.8%' }]],
    ['allocated:+70%', 0, []],
    ['reserved:+512MiB', 1, [{ gate: 'reserved:+512MiB', is: '+960.00 MiB' }]],
    ['requested:+1GiB,inactive-split:+500%', 0, []],
  ])('%s', async (gate, code, failed) => {
    const { exitCode, out } = await cli(['compare', BASE, BATCH, '--json', '--fail-on', gate]);
    expect(exitCode).toBe(code);
    expect(JSON.parse(out).failed).toEqual(failed);
  });

  it('names the responsible lines, and passes a file that shrank', async () => {
    const { out } = await cli(['compare', BASE, BATCH, '--fail-on', 'active:+1%']);
    expect(out.replace(/\s+/g, ' ')).toContain('What grew most: scenarios.py:52 (+256.00 MiB)');
    expect((await cli(['compare', BATCH, BASE, '--fail-on', 'active:+1%'])).exitCode).toBe(0);
  });

  it('refuses an invalid limit', async () => {
    for (const gate of ['vram:+2%', 'allocated', 'allocated:2 apples', 'allocated:-2%']) {
      const { exitCode, error } = await cli(['compare', BASE, BATCH, '--fail-on', gate]);
      expect(exitCode).toBe(2);
      expect(error).toContain('is no limit');
    }
  });
});

it('three files are a series: one column per file, and what grows', async () => {
  const { out } = await cli(['compare', BASE, BATCH, BATCH, '--json']);
  const report = JSON.parse(out);
  expect(report.schema).toBe('vramscope.series/1');
  expect(report.files).toHaveLength(3);
  for (const i of [0, 1, 2]) {
    const { allocatedBytes } = report.files[i];
    const parts: { bytes: number[] }[] = report.callSites;
    expect(total(parts.map(({ bytes }) => bytes[i] ?? 0))).toBe(allocatedBytes);
    const classes: { bytes: number[] }[] = report.classes;
    expect(total(classes.map(({ bytes }) => bytes[i] ?? 0))).toBe(allocatedBytes);
  }
  expect(report.verdict).toContain('1.26 GiB → 2.08 GiB → 2.08 GiB (+838.41 MiB)');
  const text = (await cli(['compare', BASE, BATCH, BATCH])).out;
  expect(text).toMatch(/^optimizer state +(\d+\.\d+ MiB) +\1 +\1 +\+0 bytes$/m);
  expect((await cli(['compare', BASE, BATCH, BATCH, '--fail-on', 'active:1%'])).exitCode).toBe(2);
});

it('a file that is missing ends with its error', async () => {
  const { exitCode, error } = await cli(['compare', BASE, 'no/such.pickle']);
  expect(exitCode).toBe(3);
  expect(error).toContain('No such file: no/such.pickle.');
});

it('a file that cannot be read is named, because there are two', async () => {
  const { exitCode, error } = await cli(['compare', BASE, '-'], Buffer.from('no pickle'));
  expect(exitCode).toBe(3);
  expect(error).toMatch(/^vramscope: -: /);
});
