import { describe, expect, test } from 'vitest';
import type { DeviceStats, StatsReport } from '../output/report/stats.ts';
import { captureNames, statsOfDevice, truthOf } from '../testing/captures.ts';
import { cli } from '../testing/cli-run.ts';

/** Files whose truth was read at a different time than the file was written, or that have no trace. */
const NO_TRUTH = /^(legacy_segments_list|no_history|protocols)/;

async function statsOf(name: string): Promise<StatsReport> {
  const { exitCode, out, error } = await cli(['stats', `fixtures/${name}`, '--json']);
  expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
  return JSON.parse(out);
}

const PEAKS = [
  ['requestedBytes', 'requested_bytes.all.peak'],
  ['allocatedBytes', 'allocated_bytes.all.peak'],
  ['activeBytes', 'active_bytes.all.peak'],
  ['reservedBytes', 'reserved_bytes.all.peak'],
  ['inactiveSplitBytes', 'inactive_split_bytes.all.peak'],
] as const;

describe("stats --json equals the allocator's figures", () => {
  test.each(captureNames().filter((name) => !NO_TRUTH.test(name)))('%s', async (name) => {
    const { devices, warnings } = await statsOf(name);
    const truths = truthOf(name);
    const named = devices.map(({ device }) => String(device));
    expect(named).toEqual(expect.arrayContaining(Object.keys(truths.stats)));
    for (const device of devices) {
      const truth = statsOfDevice(truths, device.device);
      for (const [ours, theirs] of PEAKS) {
        expect([ours, device.peak[ours].bytes]).toEqual([ours, truth[theirs]]);
      }
      expect(device.ooms.length).toBe(truth.num_ooms ?? 0);
      expect(device.anomalies).toBe(0);
      const byClass = device.peakByClass.reduce((sum, { bytes }) => sum + bytes, 0);
      if (device.recording !== 'none') expect(byClass).toBe(device.peak.allocatedBytes.bytes);
    }
    const isPartOnly = /recorded_late|ring_truncated|empty/.test(name);
    expect(warnings.length).toBe(isPartOnly ? 1 : 0);
  });
});

test('all protocols and the HTML of one snapshot give the same figures', async () => {
  const names = captureNames().filter((name) => /^protocols_p\d/.test(name));
  expect(names).toHaveLength(6);
  const reports = await Promise.all([...names, 'protocols_trace_plot.html.gz'].map(statsOf));
  // Pickles state their protocol from 2 on.
  expect(reports.map(({ file }) => file.protocol).slice(2, 6)).toEqual([2, 3, 4, 5]);
  const [first] = reports;
  expect(first.devices[0]).toMatchObject({ events: 217, anomalies: 0 });
  expect(first.devices[0].peak.activeBytes.bytes).toBeGreaterThan(0);
  for (const { devices, settings } of reports) {
    expect({ devices, settings }).toEqual({ devices: first.devices, settings: first.settings });
  }
});

test('the keys are those of vramscope.stats/1, whatever the file', async () => {
  for (const name of ['oom_fragmented', 'no_history', 'legacy_segments_list', 'empty']) {
    const report = await statsOf(`${name}.pickle.gz`);
    expect(Object.keys(report)).toEqual(['schema', 'file', 'devices', 'settings', 'warnings']);
    expect(Object.keys(report.file)).toEqual(['name', 'bytes', 'container', 'protocol', 'decoder']);
    for (const device of report.devices) expect(shapeOf(device)).toEqual(DEVICE_SHAPE);
  }
});

const DEVICE_SHAPE = {
  device: 'number',
  kind: 'string',
  events: 'number',
  actions: 'object',
  allocations: 'number',
  stacks: 'number',
  frames: 'number',
  streams: 'number',
  segmentsAtEnd: 'number',
  recording: 'string',
  start: ['requestedBytes', 'allocatedBytes', 'activeBytes', 'reservedBytes'],
  end: ['requestedBytes', 'allocatedBytes', 'activeBytes', 'reservedBytes'],
  peak: ['requestedBytes', 'allocatedBytes', 'activeBytes', 'reservedBytes', 'inactiveSplitBytes'],
  peakByClass: 'object',
  ooms: 'object',
  anomalies: 'number',
  holders: 'object',
  card: 'object',
  serving: 'object',
};

function shapeOf(device: DeviceStats) {
  const isListed = new Set(['start', 'end', 'peak']);
  return Object.fromEntries(
    Object.entries(device).map(([key, value]) => [
      key,
      isListed.has(key) ? Object.keys(value ?? {}) : typeof value,
    ]),
  );
}

test('without a trace, start, end and peak are the state of the dump, and a warning says so', async () => {
  const { devices, warnings } = await statsOf('legacy_segments_list.pickle.gz');
  const [{ recording, start, end, peak }] = devices;
  expect(recording).toBe('none');
  expect(start).toEqual(end);
  expect(end.reservedBytes).toBe(460 * 2 ** 20);
  expect(peak.reservedBytes).toEqual({ bytes: end.reservedBytes, event: -1 });
  expect(warnings.map(({ code }) => code)).toContain('no-trace');
});
