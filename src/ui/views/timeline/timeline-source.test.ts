import { describe, expect, it } from 'vitest';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import { crosshairOf, deviceInfo, NO_PEAKS } from '../../../testing/device-info.ts';
import { fakeSession } from '../../../testing/fake-session.ts';
import type { HitRequest } from '../../../worker/protocol.ts';
import { fittedWithLimit, timelineSource } from './timeline-source.ts';

const session = fakeSession({
  hit: ({ state }) => Promise.resolve({ hit: undefined, crosshair: crosshairOf(state) }),
  stackBytes: () => Promise.resolve(0),
});

describe('the stack of all allocations', () => {
  const device = deviceInfo({
    peaks: {
      ...NO_PEAKS,
      activeBytes: { bytes: 1_000_000, event: 3 },
      reservedBytes: { bytes: 4_000_000, event: 3 },
    },
  });
  const source = timelineSource(device, session, () => DEFAULT_VIEW);

  it('fits to the lines that are drawn', () => {
    expect(source.heights(DEFAULT_VIEW).fittedBytes).toBe(4_000_000);
    expect(source.heights({ ...DEFAULT_VIEW, lines: [] })).toEqual({
      reachBytes: 4_000_000,
      fittedBytes: 1_000_000,
    });
  });

  it('asks about the matches as drawn, and fits to them once they are drawn', async () => {
    const filtered = { ...DEFAULT_VIEW, search: 'stream:3', onlyMatches: true, cursor: 7 };
    const asked: HitRequest[] = [];
    const matching = timelineSource(
      device,
      fakeSession({
        frame: ({ viewport }) =>
          Promise.resolve({
            viewport,
            pixels: new Uint32Array(0),
            states: new Int32Array(0),
            lines: {},
            stackPeakBytes: 5000,
          }),
        hit: (request) => {
          asked.push(request);
          return session.query('hit', request);
        },
      }),
      () => filtered,
    );
    const viewport = { axis: 'event' as const, x0: 0, x1: 9, y0: 0, y1: 9, width: 9, height: 9 };
    const look = { view: filtered, theme: 'light' as const, selected: -1, highlighted: '' };
    const request = matching.request(viewport, look);
    expect(request).toMatchObject({ search: 'stream:3', onlyMatches: true, at: 7 });
    expect(matching.heights(filtered).fittedBytes).toBe(4_000_000);
    await matching.frame(request, new AbortController().signal);
    expect(matching.heights(filtered).fittedBytes).toBe(5000);
    expect(matching.heights({ ...filtered, search: '' }).fittedBytes).toBe(4_000_000);
    await matching.hit({ state: 3, bytesFrom: 0, bytesTo: 1 });
    expect(asked).toMatchObject([{ state: 3, search: 'stream:3', onlyMatches: true, at: 7 }]);
  });

  it('requests the same picture wherever the cursor is, without a search', () => {
    const viewport = { axis: 'event' as const, x0: 0, x1: 9, y0: 0, y1: 9, width: 9, height: 9 };
    const at = (cursor: number) =>
      source.request(viewport, {
        view: { ...DEFAULT_VIEW, cursor, onlyMatches: true },
        theme: 'light',
        selected: -1,
        highlighted: '',
      });
    expect(at(3)).toEqual(at(4));
    expect(at(3).onlyMatches).toBe(false);
  });
});

describe('a limit', () => {
  it('is in a fitted plot if it is near, and takes no space of the picture if it is far', () => {
    expect(fittedWithLimit(100)).toBe(100);
    expect(fittedWithLimit(100, 90)).toBe(100);
    expect(fittedWithLimit(100, 120)).toBe(120);
    expect(fittedWithLimit(100, 800)).toBe(100);
  });
});
