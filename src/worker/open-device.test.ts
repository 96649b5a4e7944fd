import { describe, expect, test } from 'vitest';
import { liveBytesAt, matchAllocations } from '../device/search/match-search.ts';
import { loadCapture } from '../testing/captures.ts';
import { contextsOf } from '../testing/contexts.ts';
import { TEST_PALETTE } from '../testing/naive-raster.ts';
import { nodeClock } from '../testing/node-clock.ts';
import type { FrameRequest, MatchingRequest } from './open-device.ts';
import { OpenDevice } from './open-device.ts';

const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
const device = new OpenDevice(context, nodeClock);
const { events } = context.trace;
const peak = context.replay.peaks.activeBytes;
const large = { search: 'size>=1MiB', onlyMatches: true, at: undefined } satisfies MatchingRequest;
const matches = await device.matchingOf(large);
const bytesAt = (state: number) =>
  device.timeline.indexOf(matches).counter('activeBytes').highest(state, state);

const frameOf = (matching: MatchingRequest, selected = -1, highlight = '', from = device) => {
  const request: FrameRequest = {
    deviceIndex: 0,
    viewport: {
      axis: 'event',
      x0: 0,
      x1: events.length,
      y0: 0,
      y1: peak.bytes,
      width: 200,
      height: 100,
    },
    colorBy: 'size',
    palette: TEST_PALETTE,
    lines: ['activeBytes', 'reservedBytes'],
    selected,
    highlight,
    ...matching,
  };
  return from.frame(request);
};

describe('only the matches', () => {
  const { mask } = matchAllocations(context, large.search, undefined);

  test('are stacked as high as their blocks, at the events where they are highest', async () => {
    const { states, lines, stackPeakBytes } = await frameOf(large);
    expect(lines.reservedBytes).toBeUndefined();
    for (const [column, state] of states.entries()) {
      const bytes = liveBytesAt(context, mask, state);
      expect(lines.activeBytes?.[column]).toBe(bytes);
      expect(bytesAt(state)).toBe(bytes);
    }
    expect(Math.max(...(lines.activeBytes ?? []))).toBe(stackPeakBytes);
    expect(stackPeakBytes).toBeLessThan(peak.bytes);
  });

  test('are found under a pixel at their own places', async () => {
    const top = bytesAt(peak.event);
    const all = device.timeline.hits(matches, peak.event, 0, top);
    expect(all.totalBytes).toBe(top);
    expect(all.ids.every((id) => mask?.[id] === 1)).toBe(true);
    const newest = device.timeline.hits(matches, peak.event, top - 1, top);
    expect(newest.main).toBe(all.ids.at(-1));
    expect(device.timeline.hits(matches, peak.event, top, top + 1).main).toBe(-1);
  });

  test('can be none: an empty picture', async () => {
    const none = { ...large, search: 'size>1PiB' };
    expect((await frameOf(none)).stackPeakBytes).toBe(0);
    expect(new Set((await frameOf(none)).pixels)).toEqual(new Set([TEST_PALETTE.background]));
  });
});

test('a search dims the others and moves nothing', async () => {
  const plain = await frameOf({ ...large, search: '' });
  const dimmed = await frameOf({ ...large, search: 'size>=32MiB', onlyMatches: false });
  expect(dimmed.states).toEqual(plain.states);
  expect(dimmed.lines).toEqual(plain.lines);
  const isEmpty = (pixel: number) => pixel === TEST_PALETTE.background;
  expect(dimmed.pixels.map((pixel) => Number(isEmpty(pixel)))).toEqual(
    plain.pixels.map((pixel) => Number(isEmpty(pixel))),
  );
  const kept = plain.pixels.filter((pixel, i) => !isEmpty(pixel) && pixel === dimmed.pixels[i]);
  expect(kept.length).toBeGreaterThan(0);
  expect(dimmed.pixels).not.toEqual(plain.pixels);
});

test('a highlight keeps its blocks, makes all others paler, and moves nothing', async () => {
  const plain = await frameOf({ ...large, search: '' });
  const search = 'size>=32MiB';
  const highlighted = await frameOf({ ...large, search: '' }, -1, search);
  expect(highlighted.lines).toEqual(plain.lines);
  const dimmed = await frameOf({ ...large, search, onlyMatches: false });
  const meant = plain.pixels.map((pixel, i) => Number(pixel === dimmed.pixels[i]));
  expect(new Set(meant)).toEqual(new Set([0, 1]));
  plain.pixels.forEach((pixel, i) => {
    if (meant[i] === 1 && highlighted.pixels[i] !== pixel) throw new Error(`Pixel ${i} is changed`);
  });
  // Pixels that several thin blocks share have one color, highlighted or not.
  const isPaler = plain.pixels.filter((pixel, i) => pixel !== highlighted.pixels[i]);
  expect(isPaler.length).toBeGreaterThan(0.1 * meant.length);
  // Unlike blocks that a search dims, the others can still be told apart.
  const others = (pixels: Uint32Array) => new Set(pixels.filter((_, i) => meant[i] === 0)).size;
  expect(others(highlighted.pixels)).toBeGreaterThan(others(dimmed.pixels));
  // A search takes precedence over a highlight.
  expect((await frameOf({ ...large, search, onlyMatches: false }, -1, 'size<1MiB')).pixels).toEqual(
    dimmed.pixels,
  );
});

test('a search with a problem shows all', async () => {
  const { pixels } = await frameOf({ ...large, search: 'size>' });
  expect(pixels).toEqual((await frameOf({ ...large, search: '' })).pixels);
});

describe('a rehearsed zoom', () => {
  const all = { ...large, search: '' };
  const isLong = 0;

  test('changes no picture', async () => {
    const fresh = new OpenDevice(context, nodeClock);
    const before = await frameOf(all, -1, '', fresh);
    await fresh.rehearseZoom(isLong);
    expect(await frameOf(all, -1, '', fresh)).toEqual(before);
  });

  test('gives way to a frame', async () => {
    const fresh = new OpenDevice(context, nodeClock);
    await frameOf(all, -1, '', fresh);
    const rehearsed = fresh.rehearseZoom(isLong);
    expect(fresh.frames.isIdle).toBe(false);
    const frame = await frameOf(large, -1, '', fresh);
    await rehearsed;
    expect(frame).toEqual(await frameOf(large));
    expect(fresh.frames.isIdle).toBe(true);
  });

  test('does not replace a frame that is being drawn', async () => {
    const fresh = new OpenDevice(context, nodeClock);
    const frame = frameOf(all, -1, '', fresh);
    await fresh.rehearseZoom(isLong);
    expect(await frame).toEqual(await frameOf(all));
  });
});
