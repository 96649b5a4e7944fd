import { describe, expect, it } from 'vitest';
import { LoadError } from '../../base/load-error.ts';
import { join, type PickleValue, sampleSnapshot, writePickle } from '../../testing/write-pickle.ts';
import { SnapshotDecoder } from './decoder.ts';
import { snapshotFromValue } from './from-value.ts';
import { BlockState, EMPTY_STACK, NO_STACK, type Snapshot, TraceAction } from './tables.ts';

function decode(bytes: Uint8Array): Snapshot {
  const decoder = new SnapshotDecoder();
  decoder.push(bytes);
  return decoder.finish();
}

const BASE = 0x7f0000000000;
const read = (value: PickleValue) => decode(writePickle(value));
const event = (more: Record<string, PickleValue>) => ({
  action: 'alloc',
  addr: BASE,
  size: 512,
  stream: 0,
  ...more,
});
const trace = (...events: PickleValue[]) => ({ segments: [], device_traces: [events] });

describe('the format through the versions', () => {
  it('reads the same from a pickle and from a JavaScript value', () => {
    const value = sampleSnapshot(2);
    const fromPickle = read(value);
    const fromValue = snapshotFromValue(JSON.parse(JSON.stringify(value)));
    expect(fromValue.devices).toEqual(fromPickle.devices);
    expect(fromPickle.devices[0].events.length).toBe(7);
  });

  it('uses the last of duplicate keys, as Python does, and shifts no other event', () => {
    const text = (value: string) => join([0x8c, value.length], value);
    const pair = (key: string, value: string) => join(text(key), text(value));
    const size = (bytes: number) => join(text('size'), 'M', [bytes & 255, bytes >> 8]);
    const start = join('}(', pair('action', 'alloc'), size(1024), size(512), text('addr'), 'K\x01');
    const twice = join(start, pair('category', 'A'), pair('category', 'B'), 'u');
    const once = join(start, pair('category', 'C'), 'u');
    const list = join('](](', twice, once, once, 'ee');
    const top = join([0x80, 4], '}(', text('segments'), ']', text('device_traces'), list, 'u.');
    const { strings, devices, warnings } = decode(top);
    const { sizeBytes, category } = devices[0].events;
    expect([...sizeBytes]).toEqual([512, 512, 512]);
    expect(Array.from(category ?? [], (row) => strings.get(row))).toEqual(['B', 'C', 'C']);
    expect(warnings).toEqual([]);
  });

  it('reads segments in a tuple like Python code, and assumes the default stream', () => {
    const text = (value: string) => join([0x8c, value.length], value);
    const whole = writePickle(sampleSnapshot());
    const segments = writePickle(sampleSnapshot().segments).subarray(2, -1);
    // Turns the items between EMPTY_LIST MARK and APPENDS into MARK … TUPLE.
    const tuple = join('(', segments.subarray(2, -1), 't');
    const top = join([0x80, 4], '}(', text('segments'), tuple, text('device_traces'), ']', 'u.');
    expect(decode(top).devices[0].segments).toEqual(decode(whole).devices[0].segments);
    const { stream, ...withoutStream } = event({});
    const { devices } = read(trace(event({ stream: 7 }), withoutStream));
    const { events, streams } = devices[0];
    expect(Array.from(events.stream, (row) => streams[row].handle)).toEqual([7n, 0n]);
  });

  it('keeps devices by number, however far apart', () => {
    const [segment] = sampleSnapshot().segments as readonly Record<string, PickleValue>[];
    const at = (device: number) => ({ ...segment, device });
    const { devices } = read({ ...trace(), segments: [at(900), at(0)] });
    expect(devices.map(({ device, segments }) => [device, segments.length])).toEqual([
      [0, 1],
      [900, 1],
    ]);
  });

  it('distinguishes a thread without a stack from no recorded context', () => {
    const { events } = read(trace(event({ frames: [] }), event({}))).devices[0];
    expect(Array.from(events.stack)).toEqual([EMPTY_STACK, NO_STACK]);
  });

  it('reads blocks of 2.0 and before: history, no addresses, no requested size', () => {
    const frames = [{ name: 'f', filename: 'a.py', line: 3 }];
    const blocks = [
      { size: 512, state: 'active_allocated', history: [{ addr: BASE, real_size: 400, frames }] },
      { size: 1536, state: 'inactive' },
      {
        size: 2048,
        state: 'active_awaiting_free',
        history: [{ addr: BASE + 2048, real_size: 2000 }],
      },
    ];
    const segment = {
      device: 1,
      address: BASE,
      total_size: 4096,
      stream: 0,
      segment_type: 'small',
      blocks,
    };
    const { devices } = read([segment]);
    expect(devices.map(({ device, segments }) => [device, segments.length])).toEqual([[1, 1]]);
    const table = devices[0].blocks;
    expect(Array.from(table.address)).toEqual([BASE, BASE + 512, BASE + 2048]);
    expect(Array.from(table.requestedBytes)).toEqual([400, 0, 2000]);
    expect(Array.from(table.state)).toEqual([
      BlockState.Allocated,
      BlockState.Inactive,
      BlockState.PendingFree,
    ]);
    expect(table.stack[0]).toBeGreaterThan(0);
  });

  it('reads pinned host memory as a separate device', () => {
    for (const host_traces of [[event({})], [[event({})], [event({})]]]) {
      const { devices } = read({
        segments: [],
        device_traces: [[event({})]],
        host_segments: [],
        host_traces,
      });
      expect(devices.map((device) => device.kind)).toEqual(['cuda', 'host']);
      expect(devices[1].events.length).toBe(host_traces.length);
    }
  });

  it('treats the CPU of a profiler file as host memory', () => {
    const { devices } = read({
      segments: [],
      device_traces: [[], [event({ category: 'PARAMETER' })]],
    });
    expect(devices[1].kind).toBe('host');
  });

  it('keeps unknown keys and actions, and counts them', () => {
    const snapshot = read(
      trace(event({ tensor_name: 'w1' }), event({ action: 'teleport', tensor_name: 'w2' })),
    );
    const { events } = snapshot.devices[0];
    expect(events.unknownKeys.get('tensor_name')).toEqual(
      new Map([
        [0, 'w1'],
        [1, 'w2'],
      ]),
    );
    expect(events.unknownActions).toEqual(new Map([[1, 'teleport']]));
    expect(events.action[1]).toBe(TraceAction.Unknown);
    expect(snapshot.warnings.map((warning) => warning.code)).toEqual([
      'unknown-key',
      'unknown-action',
    ]);
    expect(snapshot.warnings[0].message).toContain('2 events');
  });

  it('keeps addresses of 64 bits exactly', () => {
    const bytes = writePickle(trace(event({ addr: -(2 ** 52) })));
    const { devices, addresses } = decode(bytes);
    expect(addresses.toHex(devices[0].events.address[0])).toBe('fff0000000000000');
  });

  it('finds a snapshot under some key', () => {
    const wrapped = read({ rank: 3, payload: { snapshot: sampleSnapshot(1) } });
    expect(wrapped.devices[0].events.length).toBe(4);
  });

  it('reads user_defined entries as annotations', () => {
    const mark = (name: string, time_us: number) =>
      event({ action: 'user_defined', time_us, frames: [{ name, filename: 'step 1', line: 0 }] });
    const { annotations, startUs, strings } = read(trace(mark('START', 5), mark('END', 9)));
    expect(Array.from(annotations.isStart)).toEqual([1, 0]);
    expect(strings.get(annotations.name[0])).toBe('step 1');
    expect(startUs).toBe(5);
    expect(Array.from(annotations.timeUs)).toEqual([0, 4]);
  });

  it('counts times from the first event in 32 bits, unless they need more', () => {
    const start = 1_700_000_000_000_000;
    const timesOf = (...times: number[]) => {
      const { devices, startUs } = read(trace(...times.map((time_us) => event({ time_us }))));
      return { startUs, timeUs: devices[0].events.timeUs };
    };
    // Several threads write, so an event may have an earlier time than the one before it.
    expect(timesOf(start + 3, start, start + 2 ** 32 - 1)).toEqual({
      startUs: start,
      timeUs: Uint32Array.of(3, 0, 2 ** 32 - 1),
    });
    const long = [start, start + 2 ** 32];
    expect(timesOf(...long)).toEqual({ startUs: 0, timeUs: Float64Array.from(long) });
  });

  it('reads whether the ring overflowed, as one value or by device', () => {
    const overflowed = (trace_alloc_overflowed: PickleValue) =>
      read({ ...trace(event({})), allocator_settings: { trace_alloc_overflowed } }).devices[0]
        .ringOverflowed;
    expect(overflowed(true)).toBe(true);
    expect(overflowed([0])).toBe(false);
    expect(overflowed([1])).toBe(true);
    expect(read(trace(event({}))).devices[0].ringOverflowed).toBeUndefined();
  });

  it('keeps duplicate or unordered events at their places', () => {
    // device_traces: [[e0], [e1, e0]], with e0 from the memo.
    const dict = (size: number) =>
      join('}(', 'U', [6], 'action', 'U', [5], 'alloc', 'U', [4], 'size', 'K', [size], 'u');
    const bytes = join(
      [0x80, 4],
      '}(',
      'U',
      [13],
      'device_traces',
      '](',
      ']',
      dict(1),
      'q',
      [0],
      'a',
      '](',
      dict(2),
      'h',
      [0],
      'eeu.',
    );
    const { devices } = decode(bytes);
    expect(devices.map(({ events }) => Array.from(events.sizeBytes))).toEqual([[1], [2, 1]]);
  });

  it('treats values of the wrong type as missing, and says so', () => {
    const snapshot = read(trace(event({ size: 'big', frames: 'none' })));
    expect(snapshot.devices[0].events.stack[0]).toBe(NO_STACK);
    expect(snapshot.warnings.map((warning) => warning.message)).toEqual([
      expect.stringContaining("1 value of 'size'"),
      expect.stringContaining("1 value of 'frames'"),
    ]);
  });

  it('rejects what is not a snapshot', () => {
    for (const value of [{ a: 1 }, [1, 2], 'text', 7]) {
      expect(() => read(value)).toThrow(LoadError);
      expect(() => snapshotFromValue(value)).toThrow('not a memory snapshot');
    }
  });
});

describe('a file that ends too soon', () => {
  it('gives the complete events before each cut, in order and by device', () => {
    const value = {
      segments: [],
      device_traces: [
        [event({ size: 1 }), event({ size: 2 })],
        [event({ size: 3 }), event({ size: 4 }), event({ size: 5 })],
      ],
    };
    const bytes = writePickle(value);
    const whole = decode(bytes).devices.map(({ events }) => Array.from(events.sizeBytes));
    expect(whole).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    for (let cut = 3; cut < bytes.length; cut++) {
      const decoder = new SnapshotDecoder();
      decoder.push(bytes.subarray(0, cut));
      const { eventCount } = decoder;
      if (eventCount === 0) {
        expect(() => decoder.finishPartial('cut')).toThrow(LoadError);
        continue;
      }
      const { devices, warnings } = decoder.finishPartial('cut');
      const sizes = devices.map(({ events }) => Array.from(events.sizeBytes));
      expect(sizes.flat()).toEqual([1, 2, 3, 4, 5].slice(0, eventCount));
      if (eventCount > 2) expect(sizes[0]).toEqual([1, 2]);
      expect(warnings[0].code).toBe('partial-file');
    }
  });
});
