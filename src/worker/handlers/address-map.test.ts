import { describe, expect, test } from 'vitest';
import type { AddressPalette } from '../../draw/address-map/address-rows.ts';
import { SEGMENT_CLASSES } from '../../draw/address-map/segment-timeline.ts';
import type { Viewport } from '../../draw/timeline/types.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { OpenDevice } from '../open-device.ts';
import type { HandlerCall } from '../rpc.ts';
import { addressMapHandlers } from './address-map.ts';

const CALL: HandlerCall<never> = {
  signal: new AbortController().signal,
  onProgress: () => undefined,
};

const PALETTE: AddressPalette = {
  classes: Uint32Array.from({ length: 15 }, (_, i) => 0xff000000 + 0x0a0b0c * (i + 1)),
  background: 0xffffffff,
  pending: 0xff0000ff,
  thin: 0xff888888,
  gap: 0xff00ffff,
  separator: 0xffffffff,
  dim: 0xff010203,
};

function deviceOf(snapshot: Parameters<typeof contextsOf>[0]): OpenDevice {
  const [context] = contextsOf(snapshot);
  if (context === undefined) throw new Error('It has no device');
  return new OpenDevice(context, nodeClock);
}

const TEXT = '+A 4Mi @train.py:10 f\n+B 4Mi @train.py:20 g\n+C 4Mi @train.py:30 h\n-B\noom 8Mi';

const viewportOf = (events: number, bytes: number): Viewport => {
  return { axis: 'event', x0: 0, x1: events, y0: 0, y1: bytes, width: events, height: 20 };
};

describe('the address map', () => {
  const device = deviceOf(snapshotFromText(TEXT).snapshot);
  const events = device.context.trace.events.length;
  const last = events - 1;

  test('describes its slots, and where the newest block is', async () => {
    const { slots, totalBytes, segments } = await addressMapHandlers.addressSlots(
      device,
      { deviceIndex: 0 },
      CALL,
    );
    expect({ totalBytes, segments, kinds: slots.map(({ kind }) => kind) }).toEqual({
      totalBytes: 20 * 2 ** 20,
      segments: 1,
      kinds: ['large'],
    });
    const request = { deviceIndex: 0, state: last };
    expect(await addressMapHandlers.newestAddress(device, request, CALL)).toEqual({
      from: 8 * 2 ** 20,
      to: 12 * 2 ** 20,
    });
  });

  test('says what is under a pixel: a block, or a gap and its segment', async () => {
    const at = async (bytesFrom: number) => {
      const { hit, crosshair } = await addressMapHandlers.addressHit(
        device,
        { deviceIndex: 0, state: last, bytesFrom, bytesTo: bytesFrom + 512 },
        CALL,
      );
      expect(crosshair.event).toBe(last);
      return hit;
    };
    const block = await at(0);
    expect(block?.block).toMatchObject({ blockBytes: 4 * 2 ** 20, topFrame: { line: 10 } });
    expect(block?.gap).toBeUndefined();
    const gap = await at(5 * 2 ** 20);
    expect(gap?.block).toBeUndefined();
    expect(gap?.gap).toEqual({ from: 4 * 2 ** 20, to: 8 * 2 ** 20 });
    expect(gap?.segment).toMatchObject({ sizeBytes: 20 * 2 ** 20, pool: 'large' });
  });

  test('knows the free memory, at one state and in every column', async () => {
    const free = await addressMapHandlers.freeMemory(device, { deviceIndex: 0, state: last }, CALL);
    expect(free).toEqual({ freeBytes: 12 * 2 ** 20, largestBytes: 8 * 2 ** 20, ranges: 2 });
    const columns = { axis: 'event', x0: 0, x1: events, width: events } as const;
    const found = await addressMapHandlers.freeColumns(device, { deviceIndex: 0, columns }, CALL);
    expect(found.freeBytes[last]).toBe(free.freeBytes);
    expect(found.largestBytes[last]).toBe(free.largestBytes);
  });

  test('draws it, dims what a search does not match, outlines what is selected', async () => {
    const draw = (search: string, selected = -1) =>
      addressMapHandlers.addressFrame(
        device,
        {
          deviceIndex: 0,
          viewport: viewportOf(events, 20 * 2 ** 20),
          colorBy: 'stack',
          palette: PALETTE,
          selected,
          highlight: { allocations: [], gaps: [] },
          search,
          cursor: undefined,
        },
        CALL,
      );
    const plain = await draw('');
    const dimmed = await draw('train.py:10');
    const count = ({ pixels }: typeof plain, color: number) =>
      pixels.filter((pixel) => pixel === color).length;
    expect(count(plain, PALETTE.gap)).toBeGreaterThan(0);
    expect(count(dimmed, PALETTE.gap)).toBe(count(plain, PALETTE.gap));
    expect(count(plain, PALETTE.dim)).toBe(0);
    expect(count(dimmed, PALETTE.dim)).toBeGreaterThan(0);
    expect(dimmed.states).toEqual(plain.states);
    const selected = await draw('', 0);
    expect(selected.pixels).not.toEqual(plain.pixels);
  });
});

describe('a finding in the address map', () => {
  test('its blocks and gaps have different outlines', async () => {
    const device = deviceOf(snapshotFromText(TEXT).snapshot);
    const events = device.context.trace.events.length;
    const { address, end } = device.context.replay.allocations;
    const gaps = [{ address: address[1] ?? 0, sizeBytes: 4 * 2 ** 20 }];
    const request = { deviceIndex: 0, state: events - 1, gaps };
    const drawn = await addressMapHandlers.gapHighlights(device, request, CALL);
    expect(drawn).toMatchObject([{ offset: 4 * 2 ** 20, from: end[1], style: 'gap' }]);
    const highlight = { block: 0xff123456, gap: 0xff654321 };
    const { pixels } = await addressMapHandlers.addressFrame(
      device,
      {
        deviceIndex: 0,
        viewport: viewportOf(events, 20 * 2 ** 20),
        colorBy: 'stack',
        palette: { ...PALETTE, highlight },
        selected: -1,
        highlight: { allocations: [0], gaps: drawn },
        search: '',
        cursor: undefined,
      },
      CALL,
    );
    expect(pixels.filter((pixel) => pixel === highlight.block).length).toBeGreaterThan(0);
    expect(pixels.filter((pixel) => pixel === highlight.gap).length).toBeGreaterThan(0);
  });

  test('what a search does not match stays dimmed while its free is pending', async () => {
    const device = deviceOf(loadCapture('streams_record_stream.pickle.gz'));
    const { replay, trace } = device.context;
    const viewport = viewportOf(trace.events.length, replay.peaks.reservedBytes.bytes);
    const draw = async (search: string) => {
      const request = {
        deviceIndex: 0,
        viewport: { ...viewport, width: 400, height: 200 },
        colorBy: 'stack',
        palette: PALETTE,
        selected: -1,
        highlight: { allocations: [], gaps: [] },
        search,
        cursor: undefined,
      } as const;
      const { pixels } = await addressMapHandlers.addressFrame(device, request, CALL);
      return pixels.filter((pixel) => pixel === PALETTE.pending).length;
    };
    expect(await draw('')).toBeGreaterThan(0);
    expect(await draw('no-line-has-this-name')).toBe(0);
  });
});

describe('segments over time', () => {
  const device = deviceOf(loadCapture('cuda_graph_pool.pickle.gz'));
  const { replay, trace } = device.context;
  const last = trace.events.length - 1;

  test('are drawn by pool', async () => {
    const classes = PALETTE.classes.slice(0, SEGMENT_CLASSES.length);
    const viewport = viewportOf(trace.events.length, replay.peaks.reservedBytes.bytes);
    const request = { deviceIndex: 0, viewport, palette: { ...PALETTE, classes }, selected: -1 };
    const { pixels } = await addressMapHandlers.segmentFrame(device, request, CALL);
    const isShown = (name: (typeof SEGMENT_CLASSES)[number]) =>
      pixels.includes(classes[SEGMENT_CLASSES.indexOf(name)] ?? 0);
    expect(
      ['large', 'private', 'expandable large'].map((name) => [name, isShown(name as 'large')]),
    ).toEqual([
      ['large', true],
      ['private', true],
      ['expandable large', false],
    ]);
  });

  test('have only the existing kinds', async () => {
    const kinds = await addressMapHandlers.segmentKinds(device, { deviceIndex: 0 }, CALL);
    expect(kinds).toEqual(['small', 'large', 'private']);
  });

  test('say what they hold', async () => {
    const { reservedBytes, activeBytes } = replay.countersAt(last);
    const { hit, crosshair } = await addressMapHandlers.segmentHitOverTime(
      device,
      { deviceIndex: 0, state: last, bytesFrom: 0, bytesTo: reservedBytes },
      CALL,
    );
    expect(hit?.totalBytes).toBe(reservedBytes);
    expect(crosshair.counters.reservedBytes).toBe(reservedBytes);
    let usedBytes = 0;
    for (let segment = 0; segment < replay.segmentSpans.length; segment++) {
      const request = { deviceIndex: 0, segment, state: last };
      const { use } = await addressMapHandlers.segmentUse(device, request, CALL);
      usedBytes += use?.usedBytes ?? 0;
    }
    expect(usedBytes).toBe(activeBytes);
    const above = {
      deviceIndex: 0,
      state: last,
      bytesFrom: reservedBytes,
      bytesTo: reservedBytes + 1,
    };
    const { hit: none } = await addressMapHandlers.segmentHitOverTime(device, above, CALL);
    expect(none).toBeUndefined();
  });
});
