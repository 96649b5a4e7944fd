import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { isAbortError } from '../base/errors.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { Palette } from '../draw/timeline/types.ts';
import { nodeClock } from '../testing/node-clock.ts';
import { sourceOf } from './byte-source.ts';
import { ALL_ALLOCATIONS, type FrameRequest } from './open-device.ts';
import type { OpenProgress, OpenRequest } from './protocol.ts';
import { createSession, type SessionHost } from './session.ts';

const PALETTE: Palette = {
  classes: Uint32Array.from({ length: 24 }, (_, i) => 0xff000000 + i),
  background: 0xffffffff,
  pending: 0xff0000ff,
  thin: 0xff888888,
};

const host: SessionHost = {
  clock: nodeClock,
  sourceOf,
};

function fixture(name: string): OpenRequest {
  const bytes = readFileSync(new URL(`../../fixtures/${name}`, import.meta.url));
  return { source: { kind: 'blob', blob: new Blob([new Uint8Array(bytes)]), name } };
}
const truthOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${name}.truth.json`, import.meta.url), 'utf8'));

/** The whole trace of a device. */
function whole(info: SessionInfo, deviceIndex = 0): FrameRequest {
  const { events, peaks } = info.devices[deviceIndex] ?? { events: 0, peaks: undefined };
  return {
    deviceIndex,
    viewport: {
      axis: 'event',
      x0: 0,
      x1: events,
      y0: 0,
      y1: peaks?.activeBytes.bytes ?? 0,
      width: 320,
      height: 200,
    },
    colorBy: 'stack',
    palette: PALETTE,
    lines: ['activeBytes', 'reservedBytes'],
    selected: -1,
    ...ALL_ALLOCATIONS,
  };
}

describe('an open snapshot', () => {
  const session = createSession(host);
  const progress: OpenProgress[] = [];
  let info: SessionInfo;

  beforeAll(async () => {
    const onProgress = (step: OpenProgress) => progress.push(step);
    info = await session.open(fixture('train_gpt_small.pickle.gz'), { onProgress });
  });

  it('draws the picture requested last, however long the previous one takes', async () => {
    const session = createSession(host);
    const info = await session.open(fixture('train_gpt_small.pickle.gz'));
    const first = session.query('frame', { ...whole(info), search: 'size>=1MiB' });
    const second = session.query('frame', { ...whole(info), selected: 3 });
    await expect(first).rejects.toSatisfy(isAbortError);
    expect((await second).pixels.length).toBeGreaterThan(0);
  });

  it('has the allocator’s own figures', () => {
    expect(info.file).toMatchObject({ name: 'train_gpt_small.pickle.gz', container: 'gzip' });
    const stats = truthOf('train_gpt_small').stats['0'];
    const { peaks, end, allocations } = info.devices[0] ?? {};
    expect(peaks?.reservedBytes.bytes).toBe(stats['reserved_bytes.all.peak']);
    expect(peaks?.activeBytes.bytes).toBe(stats['active_bytes.all.peak']);
    expect(end?.requestedBytes).toBe(stats['requested_bytes.all.current']);
    expect(allocations).toBe(stats['allocation.all.allocated']);
  });

  it('reports its progress: reading, then replaying, then indexing', () => {
    const phases = progress.map(({ phase }) => phase);
    expect([...new Set(phases)]).toEqual(['reading', 'replaying', 'indexing']);
    expect(progress.at(-1)).toMatchObject({
      readBytes: info.file.bytes,
      totalBytes: info.file.bytes,
      events: info.devices[0]?.events,
    });
  });

  it('draws its peak, and what a pixel of it shows is found again by its label', async () => {
    const request = whole(info);
    const { pixels, states, lines } = await session.query('frame', request);
    expect(pixels).toHaveLength(320 * 200);
    expect(Math.max(...(lines.activeBytes ?? []))).toBe(info.devices[0]?.peaks.activeBytes.bytes);
    expect(Math.max(...(lines.reservedBytes ?? []))).toBe(
      info.devices[0]?.peaks.reservedBytes.bytes,
    );

    const { y1, height, width } = request.viewport;
    for (let column = 0; column < width; column += 16) {
      const state = states[column] ?? -1;
      const rowBytes = y1 / height;
      const { hit } = await session.query('hit', {
        deviceIndex: 0,
        state,
        bytesFrom: 0,
        bytesTo: rowBytes,
        ...ALL_ALLOCATIONS,
      });
      if (hit === undefined) continue;
      const found = await session.query('allocation', { deviceIndex: 0, index: hit.allocation });
      expect(found).toMatchObject({ label: hit.label, blockBytes: hit.blockBytes });
      expect(found.startEvent).toBeLessThanOrEqual(state);
      expect(found.endEvent).toBeGreaterThan(state);
      expect(await session.query('findAllocation', { deviceIndex: 0, label: hit.label })).toBe(
        hit.allocation,
      );
    }
  });

  it('gives each allocation the stack of the line that made it', async () => {
    const peak = info.devices[0]?.peaks.activeBytes.event ?? -1;
    const { hit } = await session.query('hit', {
      deviceIndex: 0,
      state: peak,
      bytesFrom: 0,
      bytesTo: 1e12,
      ...ALL_ALLOCATIONS,
    });
    expect(hit?.topFrame).toMatchObject({ filename: expect.stringMatching(/\.py$/) });
    const { allocStack } = await session.query('allocation', {
      deviceIndex: 0,
      index: hit?.allocation ?? -1,
    });
    expect(allocStack.kind).toBe('recorded');
    expect(allocStack.frames).toContainEqual(hit?.topFrame);
  });

  it('answers from event to time and back', async () => {
    const events = info.devices[0]?.events ?? 0;
    for (const event of [0, events >> 1, events - 1]) {
      const { timeUs, counters } = await session.query('crosshair', { deviceIndex: 0, event });
      const back = await session.query('eventAt', { deviceIndex: 0, timeUs });
      expect((await session.query('crosshair', { deviceIndex: 0, event: back })).timeUs).toBe(
        timeUs,
      );
      expect(counters.allocatedBytes).toBeLessThanOrEqual(counters.reservedBytes);
    }
  });

  it('draws into returned pixels', async () => {
    const { pixels } = await session.query('frame', whole(info));
    const before = pixels.slice();
    await session.recycle({ pixels });
    const again = await session.query('frame', whole(info));
    expect(again.pixels).toBe(pixels);
    expect(again.pixels).toEqual(before);
  });

  it('also draws other views into them', async () => {
    const { pixels } = await session.query('frame', whole(info));
    await session.recycle({ pixels });
    const { viewport, palette } = whole(info);
    const request = { deviceIndex: 0, viewport, palette, selected: -1 };
    expect((await session.query('segmentFrame', request)).pixels).toBe(pixels);
  });

  it('draws one picture at a time: the newest wins, whichever view it is of', async () => {
    const { viewport, palette } = whole(info);
    const frame = session.query('frame', whole(info));
    const segments = { deviceIndex: 0, viewport, palette, selected: -1 };
    const palettes = { gap: 1, separator: 2, dim: 3 };
    const addresses = {
      ...segments,
      palette: { ...palette, ...palettes },
      colorBy: 'size' as const,
      highlight: { allocations: [], gaps: [] },
      search: '',
      cursor: undefined,
    };
    const outcomes = [
      frame,
      session.query('segmentFrame', segments),
      session.query('addressFrame', addresses),
    ];
    const settled = await Promise.allSettled(outcomes);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('says which device it lacks', async () => {
    await expect(
      session.query('minimap', { deviceIndex: 9, axis: 'event', width: 4 }),
    ).rejects.toMatchObject({
      failure: { code: 'no-such-device' },
    });
    expect(
      await session.query('findAllocation', { deviceIndex: 0, label: 'b0_0' }),
    ).toBeUndefined();
  });
});

it('answers nothing before a file is open', async () => {
  await expect(
    createSession(host).query('minimap', { deviceIndex: 0, axis: 'event', width: 1 }),
  ).rejects.toMatchObject({ failure: { code: 'no-such-device' } });
});
