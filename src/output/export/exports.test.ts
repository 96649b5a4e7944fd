import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { addUp } from '../../base/collections.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, describeStack } from '../../testing/contexts.ts';
import { allocationsArrow, eventsArrow } from './arrow-tables.ts';
import { EXPORTS } from './exports.ts';
import { perfettoTrace } from './perfetto-trace.ts';

const contextOfCapture = (name: string): DeviceModel => {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  if (context === undefined) throw new Error(`${name} has no device`);
  return context;
};

/** A strict RFC 4180 reader: quotes are doubled, and quoted fields may contain line ends. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  const fields = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/gy;
  let row: string[] = [];
  for (const [, field = '', end] of text.matchAll(fields)) {
    row.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe('counters as CSV', () => {
  it('are those of the replay, event by event', () => {
    const context = contextOfCapture('oom_fragmented');
    const [heading, before, ...rows] = readCsv([...EXPORTS['counters-csv'].make(context)].join(''));
    expect(heading?.slice(0, 4)).toEqual(['event', 'time_us', 'action', 'requested_bytes']);
    expect(before?.[0]).toBe('-1');
    expect(rows.length).toBe(context.trace.events.length);
    for (const [event = '', , , requested, allocated, active, reserved, inactive] of rows) {
      const counters = context.replay.countersAt(Number(event));
      expect([requested, allocated, active, reserved, inactive].map(Number)).toEqual([
        counters.requestedBytes,
        counters.allocatedBytes,
        counters.activeBytes,
        counters.reservedBytes,
        counters.inactiveSplitBytes,
      ]);
    }
  });
});

describe('the card as CSV', () => {
  it('has every row of every sample, and the rows of a sample add up to the card', () => {
    const context = contextOfCapture('record/ledger/card');
    const [, ...rows] = readCsv([...EXPORTS['card-csv'].make(context)].join(''));
    const totals = new Map<string, number>();
    for (const [, timeUs = '', , , , bytes] of rows) addUp(totals, timeUs, Number(bytes));
    const { samples = [] } = context.snapshot.ledger ?? {};
    expect([...totals.values()]).toEqual(samples.map(({ totalBytes }) => totalBytes));
    expect(rows.map(([, , , , row]) => row)).toContain('PyTorch, private pool (0, 1)');
    const [, ...none] = readCsv(
      [...EXPORTS['card-csv'].make(contextOfCapture('train_resnet'))].join(''),
    );
    expect(none).toEqual([]);
  });
});

describe('allocations as CSV', () => {
  it('have one row each, with the bytes of its block', () => {
    const context = contextOfCapture('train_recorded_late');
    const [heading = [], ...rows] = readCsv([...EXPORTS['allocations-csv'].make(context)].join(''));
    const { allocations } = context.replay;
    expect(rows.length).toBe(allocations.length);
    const block = heading.indexOf('block_bytes');
    expect(rows.map((row) => Number(row[block]))).toEqual([...allocations.sizeBytes]);
  });
});

describe('Arrow, as its own library reads it', () => {
  const context = contextOfCapture('train_recorded_late');

  it('has the allocations', () => {
    const table = tableFromIPC(allocationsArrow(context));
    const { allocations } = context.replay;
    expect(table.numRows).toBe(allocations.length);
    const column = (name: string) => [...(table.getChild(name) ?? [])];
    expect(column('address')).toEqual([...allocations.address].map(BigInt));
    expect(column('block_bytes')).toEqual([...allocations.sizeBytes]);
    expect(column('start_event')).toEqual([...allocations.start]);
    const ends = [...allocations.end].map((end) => (end === 2 ** 31 - 1 ? null : end));
    expect(column('end_event')).toEqual(ends);
    const stacks = column('stack');
    const last = allocations.length - 1;
    const [innermost = ''] = describeStack(context.snapshot, allocations.stack[last]).split(' < ');
    expect(stacks[last]).toContain(innermost.slice(0, innermost.indexOf(' ')));
    expect(stacks[0]).toBe('[no stack, from before the oldest event]');
  });

  it('has the events, with the counters after each', () => {
    const table = tableFromIPC(eventsArrow(context));
    const { length } = context.trace.events;
    expect(table.numRows).toBe(length);
    for (let event = 0; event < length; event += 97) {
      const row = table.get(event);
      const counters = context.replay.countersAt(event);
      expect(row?.allocated_bytes).toBe(counters.allocatedBytes);
      expect(row?.reserved_bytes).toBe(counters.reservedBytes);
    }
  });

  it('keeps addresses of 64 bits', () => {
    const address = 0xff00_0000_0000_0200n;
    const entry = { action: 'alloc', addr: address, size: 512, stream: 0, frames: [] };
    const snapshot = { segments: [], device_traces: [[entry]] };
    const table = tableFromIPC(allocationsArrow(contextOf(snapshot)));
    expect(table.getChild('address')?.get(0)).toBe(address);
  });
});

describe('a trace for Perfetto', () => {
  it('follows the format, in the recorder’s time', () => {
    const context = contextOfCapture('train_annotated');
    const trace = JSON.parse([...perfettoTrace(context)].join(''));
    const { timeUs } = context.trace.events;
    const counters = trace.traceEvents.filter(({ ph }: { ph: string }) => ph === 'C');
    const slices = trace.traceEvents.filter(({ ph }: { ph: string }) => ph === 'X');
    expect(counters.length).toBe(4 * context.trace.events.length);
    expect(slices.length).toBeGreaterThan(0);
    for (const event of trace.traceEvents) {
      expect(typeof event.name).toBe('string');
      expect(event.pid).toBe(0);
      if (event.ph === 'M') continue;
      expect(event.ts).toBeGreaterThanOrEqual((timeUs?.[0] ?? 0) - 1e6);
      if (event.ph === 'X') expect(event.dur).toBeGreaterThanOrEqual(0);
    }
    const allocated = counters.filter(({ name }: { name: string }) => name === 'allocated');
    const peak = Math.max(
      ...allocated.map((event: { args: { bytes: number } }) => event.args.bytes),
    );
    expect(peak).toBe(context.replay.peaks.allocatedBytes.bytes);
  });

  it('cannot be made if events have no times, and says so', () => {
    const context = contextOf({
      segments: [],
      device_traces: [[{ action: 'alloc', addr: 4096, size: 512, stream: 0 }]],
    });
    expect(() => [...perfettoTrace(context)]).toThrow(/no times/);
  });
});
