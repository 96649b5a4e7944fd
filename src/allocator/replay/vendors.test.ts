import { describe, expect, test } from 'vitest';
import { SnapshotDecoder } from '../../format/snapshot/decoder.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import { VENDOR_FILES, type VendorFile, vendorFile } from '../../testing/vendor-files.ts';
import { type PickleValue, Tuple, writePickle } from '../../testing/write-pickle.ts';
import { replayDevice } from './replay.ts';

function read(bytes: Uint8Array): Snapshot {
  const decoder = new SnapshotDecoder();
  decoder.push(bytes);
  return decoder.finish();
}

function replayed(snapshot: Snapshot) {
  const [trace] = snapshot.devices;
  return { trace, replay: replayDevice(trace, snapshot.settings) };
}

const VENDOR: Readonly<Record<VendorFile, string | undefined>> = {
  cuda: undefined,
  hip: 'rocm',
  xpu: 'xpu',
  npu: 'npu',
  npu950: 'npu',
  npu1g: 'npu',
  musa: 'musa',
  mlu: 'mlu',
  other: 'unknown',
};

describe.each(VENDOR_FILES)('a file of %s', (vendor) => {
  const { bytes, truth, events } = vendorFile(vendor, { fails: true });
  const snapshot = read(bytes);
  const { trace, replay } = replayed(snapshot);

  test('is recognised', () => {
    expect(trace.accelerator?.vendor).toBe(VENDOR[vendor]);
    expect(trace.events.length).toBe(events);
    expect(snapshot.warnings).toEqual([]);
  });

  test('contradicts itself nowhere', () => {
    expect(replay.anomalies).toEqual([]);
    expect(replay.recording).toBe('complete');
  });

  test('has the counters of its own allocator, to the byte', () => {
    const { end, peaks } = replay;
    const now = {
      allocated: end.allocatedBytes,
      active: end.activeBytes,
      reserved: end.reservedBytes,
      requested: end.requestedBytes,
    };
    expect(now).toEqual(truth.end);
    expect({
      allocated: peaks.allocatedBytes.bytes,
      active: peaks.activeBytes.bytes,
      reserved: peaks.reservedBytes.bytes,
      requested: peaks.requestedBytes.bytes,
    }).toEqual(truth.peak);
  });

  test('puts each block into the pool that its segment says', () => {
    const { segments } = trace;
    const spans = replay.segmentSpans;
    for (let s = 0; s < segments.length; s++) {
      const row = spans.address.lastIndexOf(segments.address[s]);
      expect(spans.isSmall[row]).toBe(segments.isSmall[s]);
    }
  });
});

describe('Ascend', () => {
  const MI = 2 ** 20;
  const paddingOf = (vendor: VendorFile) => read(vendorFile(vendor).bytes).devices[0].accelerator;

  test('adds 32 bytes or does not, as its blocks show', () => {
    expect(paddingOf('npu')).toMatchObject({ paddingBytes: 32, isPaddingKnown: true });
    expect(paddingOf('npu950')).toMatchObject({ paddingBytes: 0, isPaddingKnown: true });
  });

  test('keeps its workspaces outside the counters and the segments', () => {
    const { bytes, truth } = vendorFile('npu', { workspaces: [64 * MI, 6 * MI] });
    const { trace, replay } = replayed(read(bytes));
    expect(trace.accelerator?.workspaces.map(({ sizeBytes }) => sizeBytes)).toEqual([
      64 * MI,
      6 * MI,
    ]);
    expect(replay.end.reservedBytes).toBe(truth.end.reserved);
    expect(replay.anomalyCount).toBe(0);
  });

  test('is told by 32 bytes in its blocks where no history was recorded', () => {
    const { bytes } = vendorFile('npu', { hasTrace: false, workspaces: [] });
    expect(read(bytes).devices[0].accelerator?.vendor).toBe('npu');
  });

  test('says that the padding is assumed if no block shows it', () => {
    const { value } = vendorFile('npu', { workspaces: [] });
    const alloc = { action: 'alloc', addr: 2 ** 40, size: 100, stream: 0, pool_id: [0, 0] };
    const bytes = writePickle({ ...value, segments: [], device_traces: [[alloc]] });
    expect(read(bytes).devices[0].accelerator).toMatchObject({
      paddingBytes: 32,
      isPaddingKnown: false,
    });
  });
});

describe('other evidence', () => {
  const withFrame = (vendor: VendorFile, name: string) => {
    const { value } = vendorFile(vendor, { hasTrace: false });
    const event = {
      action: 'alloc',
      addr: 4096,
      size: 512,
      stream: 0,
      time_us: 1,
      frames: [{ filename: '??', line: 0, name }],
    };
    return read(writePickle({ ...value, device_traces: [[event]] })).devices[0].accelerator?.vendor;
  };

  test.each([
    ['cuda', 'c10::hip::HIPCachingAllocator::Native::DeviceCachingAllocator::malloc', 'rocm'],
    ['cuda', 'c10::xpu::XPUCachingAllocator::malloc', undefined],
    ['cuda', 'c10::cuda::CUDACachingAllocator::malloc', undefined],
    ['xpu', 'c10::musa::MUSACachingAllocator::malloc', 'musa'],
  ] as const)('%s settings with %s in a stack', (vendor, name, expected) => {
    expect(withFrame(vendor, name)).toBe(expected);
  });

  test('events with pool_id and times are no sign of Ascend', () => {
    const { value } = vendorFile('xpu');
    const [events] = value.device_traces as readonly (readonly PickleValue[])[];
    const pooled = events.map((event) => Object.assign({}, event, { pool_id: [0, 0] }));
    const { trace, replay } = replayed(read(writePickle({ ...value, device_traces: [pooled] })));
    expect(trace.accelerator?.vendor).toBe('xpu');
    expect(replay.anomalyCount).toBe(0);
  });

  /** Level Zero gives device memory such addresses, and queues are pointers. */
  test('an XPU queue and its addresses may lie above 2^53', () => {
    const { value, truth } = vendorFile('xpu');
    const { trace, replay } = replayed(read(writePickle(raised(value) as typeof value)));
    expect(trace.streams.map(({ handle }) => handle)).toContain(HIGH + 0x5581_7a2c_4e10n);
    expect(replay.end.allocatedBytes).toBe(truth.end.allocated);
    expect(replay.anomalyCount).toBe(0);
  });
});

const HIGH = 0xff00_0000_0000_0000n;

function raised(value: PickleValue): PickleValue {
  if (Array.isArray(value)) return value.map(raised);
  if (typeof value !== 'object' || value instanceof Tuple) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    const isHigh = typeof item === 'number' && /^(addr|address|stream)$/.test(key);
    return [key, isHigh ? HIGH + BigInt(item) : raised(item)];
  });
  return Object.fromEntries(entries);
}

test('an empty dictionary is of a backend without snapshots', () => {
  expect(() => read(writePickle({}))).toThrow(/backend has no snapshots/);
});
