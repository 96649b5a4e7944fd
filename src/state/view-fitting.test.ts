import { describe, expect, it } from 'vitest';
import {
  type DeviceInfo,
  type SessionInfo,
  deviceInfo as snapshotDevice,
} from '../device/model/device-info.ts';
import { analysisOf } from '../testing/analysed.ts';
import { loadCapture } from '../testing/captures.ts';
import { contextsOf } from '../testing/contexts.ts';
import { deviceInfo, NO_PEAKS } from '../testing/device-info.ts';
import { encodeView, parseUrl } from './url-codec.ts';
import { onDevice, openingCursor, openingView, placesBeyond, viewFitting } from './view-fitting.ts';
import { DEFAULT_VIEW, type ViewState } from './view-store.ts';

const info: SessionInfo = {
  file: {
    name: 'x.pickle',
    bytes: 1,
    container: 'pickle',
    protocol: 4,
    decoder: 'columnar',
    partial: undefined,
  },
  devices: [deviceInfo({ events: 284 }), deviceInfo({ index: 1, events: 0 })],
  settings: {},
  warnings: [],
};

describe('a link to places beyond the trace', () => {
  it('loses them, and says so', () => {
    const view = { ...DEFAULT_VIEW, cursor: 5000, secondCursor: 284 };
    expect(viewFitting(view, info)).toMatchObject({ cursor: undefined, secondCursor: undefined });
    expect(placesBeyond(view, info)).toEqual([
      'The link points to event 5,000, but this trace ends with event 283. Showing the end.',
      'The link sets a second cursor at event 284, but this trace ends with event 283. That cursor was removed.',
    ]);
  });

  it('keeps those inside', () => {
    const view = { ...DEFAULT_VIEW, cursor: 283, secondCursor: 0 };
    expect(viewFitting(view, info)).toMatchObject({ cursor: 283, secondCursor: 0 });
    expect(placesBeyond(view, info)).toEqual([]);
  });

  it('says that a device without a trace has none', () => {
    const [sentence] = placesBeyond({ ...DEFAULT_VIEW, deviceIndex: 1, cursor: 3 }, info);
    expect(sentence).toContain('this trace has no events');
  });
});

describe('a file opens on its main device', () => {
  const peaks = (bytes: number) => ({ ...NO_PEAKS, allocatedBytes: { bytes, event: 0 } });
  const opened = (...devices: Partial<DeviceInfo>[]) =>
    openingView({ devices: devices.map((given, index) => deviceInfo({ index, ...given })) })
      .deviceIndex;

  it('is that with the highest peak: a rank has empty devices before its own', () => {
    expect(opened({ events: 0 }, { events: 0 }, { peaks: peaks(5) }, { peaks: peaks(9) })).toBe(3);
    expect(opened({ peaks: peaks(5) }, { peaks: peaks(5) })).toBe(0);
  });

  it('is pinned host memory only if no GPU has any', () => {
    const host = { kind: 'host', peaks: peaks(100) } as const;
    expect(opened({ peaks: peaks(5) }, host)).toBe(0);
    expect(opened({}, host)).toBe(1);
  });

  it('is the first if all are empty', () => {
    expect(opened({ events: 0 }, { events: 0 })).toBe(0);
    expect(opened()).toBe(0);
  });

  it('is kept out of the link, and any other is in it', () => {
    const devices = [deviceInfo(), deviceInfo({ index: 1, peaks: peaks(9) })];
    const opening = openingView({ devices });
    expect(encodeView(opening, undefined, opening)).toBe('');
    const other = { ...opening, deviceIndex: 0, cursor: undefined };
    const hash = encodeView(other, undefined, opening);
    expect(hash).toBe('v=1&device=0');
    expect(parseUrl(hash, opening).view).toEqual(other);
  });
});

describe('a file opens at the moment that matters', () => {
  const oom = (event: number, wasRetried: boolean) => ({
    event,
    timeUs: event,
    requestedBytes: 1,
    deviceFreeBytes: 0,
    wasRetried,
  });
  const peaks = { ...NO_PEAKS, allocatedBytes: { bytes: 5, event: 40 } };

  it('is the first OOM that the program saw', () => {
    const ooms = [oom(10, true), oom(20, false), oom(30, false)];
    expect(openingCursor(deviceInfo({ ooms, peaks }))).toBe(20);
  });

  it('is the peak of allocated memory if every OOM was retried, or there is none', () => {
    expect(openingCursor(deviceInfo({ ooms: [oom(10, true)], peaks }))).toBe(40);
    expect(openingCursor(deviceInfo({ peaks }))).toBe(40);
  });

  it('is the peak of active memory if most of it waits for a stream', () => {
    const activeBytes = { bytes: 50, event: 70 };
    expect(openingCursor(deviceInfo({ peaks: { ...peaks, activeBytes } }))).toBe(70);
  });

  it('is the peak of reserved memory if much of it was never needed, but not before the trace', () => {
    const fragmented = (event: number) => ({
      ...peaks,
      activeBytes: { bytes: 5, event: 40 },
      reservedBytes: { bytes: 3 * 2 ** 30, event },
    });
    expect(openingCursor(deviceInfo({ peaks: fragmented(60) }))).toBe(60);
    expect(openingCursor(deviceInfo({ peaks: fragmented(-1) }))).toBe(40);
    const ooms = [oom(20, false)];
    expect(openingCursor(deviceInfo({ ooms, peaks: fragmented(60) }))).toBe(20);
  });

  // The cursor is chosen from the peaks, before any check has run. It must agree with the checks.
  it.each([
    'frag_gpt_varlen',
    'default_stacks/frag_gpt_varlen',
    'pairs/frag_varlen.python',
    'pairs/growing_concat.python',
    'pairs/kv_cache_generate.python',
    'whatif_pow2/oom_fragmented',
    'whatif_split128/frag_gpt_varlen',
    'oom_fragmented',
    'kv_cache_generate',
    'eval_without_no_grad',
    'leak_output_list',
    'pairs/leak_growing_pieces.python',
    'pairs/eval_inference_mode.python',
    'train_gpt_small',
  ])('shows what the verdict on %s says', async (name) => {
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    const info = snapshotDevice(context, 0);
    const { account, verdict } = await analysisOf(context);
    const cursor = openingCursor(info) ?? -1;
    // A tensor that is replaced by larger ones leaves gaps too: reserved memory peaked where they were largest.
    const hasGaps = verdict.cause === 'fragmentation' || verdict.cause === 'growing';
    if (account.moment.why === 'peak' && hasGaps) {
      const { reservedBytes, allocatedBytes } = context.replay.countersAt(cursor);
      expect(reservedBytes).toBe(info.peaks.reservedBytes.bytes);
      if (verdict.cause === 'fragmentation')
        expect(reservedBytes - allocatedBytes).toBeGreaterThanOrEqual(verdict.bytes);
    } else {
      expect(cursor).toBe(account.moment.event);
    }
  });

  it('is the first event if the peak was before the trace, and none without a trace', () => {
    const before = { ...NO_PEAKS, allocatedBytes: { bytes: 5, event: -1 } };
    expect(openingCursor(deviceInfo({ peaks: before }))).toBe(0);
    expect(openingCursor(deviceInfo({ events: 0, peaks }))).toBeUndefined();
  });

  it('is kept out of the link; another moment, and none, are in it', () => {
    const devices = [deviceInfo({ peaks }), deviceInfo({ index: 1 })];
    const opening = openingView({ devices });
    const hashOf = (change: Partial<ViewState>) =>
      encodeView({ ...opening, ...change }, undefined, opening);
    expect(hashOf({})).toBe('');
    expect(hashOf({ cursor: 3 })).toBe('v=1&at=3');
    expect(hashOf({ cursor: undefined })).toBe('v=1&at=end');
    expect(hashOf({ deviceIndex: 1, cursor: undefined })).toBe('v=1&device=1');
    for (const cursor of [3, 40, undefined]) {
      for (const deviceIndex of [0, 1]) {
        const view = { ...opening, cursor, deviceIndex };
        expect(parseUrl(hashOf({ cursor, deviceIndex }), opening).view).toEqual(view);
      }
    }
  });

  it('also applies when switching devices', () => {
    const there = onDevice(deviceInfo({ index: 1, peaks }));
    expect(there).toMatchObject({ deviceIndex: 1, cursor: 40, x: 'all', selection: undefined });
  });
});
