import { describe, expect, it } from 'vitest';
import { createViewStore } from '../../state/view-store.ts';
import { crosshairOf, deviceInfo } from '../../testing/device-info.ts';
import type { PixelRequest } from '../../worker/protocol.ts';
import { onPlotKey, PlotNavigation } from './plot-navigation.ts';
import type { PlotHit } from './plot-source.ts';
import { viewportOf } from './viewport-of.ts';

/** Blocks of 100 bytes, stacked; ten at any event. */
const BLOCK = 100;
const BLOCKS = 10;

function hitOf({ bytesFrom }: PixelRequest): PlotHit | undefined {
  const allocation = Math.floor(bytesFrom / BLOCK);
  if (allocation < 0 || allocation >= BLOCKS) return undefined;
  return {
    bottomBytes: allocation * BLOCK,
    topBytes: (allocation + 1) * BLOCK,
    content: { title: '', label: '', lines: [] },
    selection: `b${allocation}_0`,
  };
}

function setup(cursorX?: number) {
  const heights = { reachBytes: 2000, fittedBytes: 2000 };
  const device = deviceInfo({
    events: 1000,
    ooms: [100, 300].map((event) => {
      return {
        event,
        timeUs: Number.NaN,
        requestedBytes: 1,
        deviceFreeBytes: 0,
        wasRetried: false,
      };
    }),
  });
  const view = createViewStore();
  const size = { width: 200, height: 100 };
  const errors: unknown[] = [];
  const viewport = () => viewportOf(view.getState().view, device, heights, size);
  const navigation = new PlotNavigation({
    device,
    view,
    source: {
      heights: () => heights,
      yField: 'y',
      hit: (place) => Promise.resolve({ hit: hitOf(place), crosshair: crosshairOf(place.state) }),
      newestAt: (state) =>
        Promise.resolve({ state, bytesFrom: BLOCK * BLOCKS - 1, bytesTo: BLOCK * BLOCKS }),
    },
    plot: () => ({ viewport: viewport(), ...size, pixelRatio: 1, cursorX }),
    pixelAt: ({ x, y }) => {
      const { x0, x1, y0, y1 } = viewport();
      const bytesFrom = y1 - ((y + 1) / size.height) * (y1 - y0);
      const state = Math.floor(x0 + (x / size.width) * (x1 - x0));
      return { state, bytesFrom, bytesTo: bytesFrom + 1 };
    },
    onError: (error) => errors.push(error),
  });
  const now = () => view.getState().view;
  const press = (key: string, shiftKey = false) =>
    onPlotKey({ key, shiftKey, altKey: false, ctrlKey: false, metaKey: false }, navigation);
  return { navigation, view, now, viewport, press };
}

describe('moving about', () => {
  it('keeps what is under the pointer in place', () => {
    const { navigation, viewport } = setup();
    navigation.zoomX(4, { x: 50, y: 0 });
    const { x0, x1 } = viewport();
    expect(x1 - x0).toBeCloseTo(250, -1);
    expect(Math.abs(x0 + 0.25 * (x1 - x0) - 250)).toBeLessThan(2);
  });

  it('zooms by keys around the pinned event', () => {
    const { press, viewport } = setup(900);
    press('+');
    press('+');
    const { x0, x1 } = viewport();
    expect(x0).toBeGreaterThan(400);
    expect(x1).toBeGreaterThanOrEqual(900);
  });

  it('drags from where the drag began, and does not scroll bytes that are fitted', () => {
    const { navigation, viewport, now } = setup();
    navigation.zoomX(4);
    const before = viewport();
    navigation.pan({ x: -10, y: 30 }, true);
    navigation.pan({ x: -20, y: 30 }, false);
    expect(viewport().x0 - before.x0).toBeCloseTo((20 * (before.x1 - before.x0)) / 200, 5);
    expect(now().y).toBe('fit');
  });

  it('fits with F, and back to "all" when zoomed out as far as it goes', () => {
    const { press, navigation, now } = setup();
    navigation.zoomToPixels(20, 60);
    expect(now().x).not.toBe('all');
    press('f');
    expect(now()).toMatchObject({ x: 'all', y: 'fit' });
    press('+');
    press('-');
    press('-');
    expect(now().x).toBe('all');
  });

  it('zooms bytes from the bottom by keys and at the pointer by the wheel', () => {
    const { navigation, viewport } = setup();
    navigation.zoomY(2);
    expect(viewport().y0).toBe(0);
    const before = viewport();
    navigation.zoomY(1.5, { y: 0 });
    expect(viewport().y1).toBeCloseTo(before.y1, 5);
  });

  it('zooms with W and S, and pans with A and D', () => {
    const { press, viewport } = setup();
    const span = () => viewport().x1 - viewport().x0;
    press('w');
    expect(span()).toBeCloseTo(1000 / 1.5, -1);
    const { x0 } = viewport();
    press('d');
    expect(viewport().x0).toBeGreaterThan(x0);
    press('a');
    expect(viewport().x0).toBeCloseTo(x0, 5);
    press('s');
    expect(span()).toBeCloseTo(1000, -1);
  });

  it('moves the cursor to a click at once, and pins what is there in the same step', async () => {
    const { navigation, now, view } = setup();
    const { cursor } = now();
    const { commits } = view.getState();
    const clicked = navigation.click({ x: 100, y: 95 });
    // A key pressed next refers to the clicked event.
    expect(now()).toMatchObject({ cursor: 500, selection: undefined });
    await clicked;
    expect(now().selection).toBeDefined();
    expect(view.getState().commits).toBe(commits + 1);
    view.undoClick();
    expect(now()).toMatchObject({ cursor, selection: undefined });
  });

  it('leaves keys with Ctrl and unknown keys to the browser', () => {
    const { navigation, press } = setup();
    const key = { key: 'f', shiftKey: false, altKey: false, ctrlKey: true, metaKey: false };
    expect(onPlotKey(key, navigation)).toBe(false);
    expect(press('q')).toBe(false);
  });
});

describe('pinning', () => {
  it('steps over events and stops at the ends', () => {
    const { press, view, now } = setup();
    view.move({ cursor: 1 });
    press('[');
    press('[');
    expect(now().cursor).toBe(0);
    press(']');
    expect(now().cursor).toBe(1);
  });

  it('steps over OOMs', () => {
    const { press, now } = setup();
    press('}');
    expect(now().cursor).toBe(100);
    press('}');
    press('}');
    expect(now().cursor).toBe(300);
    press('{');
    expect(now().cursor).toBe(100);
  });

  it('pins the newest, then its neighbors below and above', async () => {
    const { navigation, now } = setup();
    await navigation.pinNewest();
    expect(now().selection).toBe('b9_0');
    await navigation.pinNeighbor(-1);
    expect(now().selection).toBe('b8_0');
    await navigation.pinNeighbor(1);
    expect(now().selection).toBe('b9_0');
  });

  it('unpins with Esc, back to where the cursor was, then to where the page opened, and no further', async () => {
    const { navigation, view, press, now } = setup();
    view.opensAt(50);
    view.move({ cursor: 77 });
    await navigation.click({ x: 100, y: 60 });
    await navigation.pinNeighbor(-1);
    expect(now().selection).toBeDefined();
    press('Escape');
    expect(now()).toMatchObject({ selection: undefined, cursor: 77 });
    press('Escape');
    expect(now()).toMatchObject({ selection: undefined, cursor: 50 });
    const { commits } = view.getState();
    expect(press('Escape')).toBe(false);
    expect(view.getState().commits).toBe(commits);
  });

  it('leaves Esc to the finding that is shown', () => {
    const { press, view, now } = setup();
    view.move({ cursor: 77, finding: 'leak-1' });
    expect(press('Escape')).toBe(false);
    expect(now().cursor).toBe(77);
  });

  it.each([true, false])(
    'shows all by a double click and pins nothing, answered: %s',
    async (isAnswered) => {
      const { navigation, view, now } = setup();
      view.move({ cursor: 77, x: { from: 10, to: 500 } });
      const pinned = navigation.click({ x: 100, y: 60 });
      if (isAnswered) await pinned;
      navigation.doubleClick();
      await pinned;
      expect(now()).toMatchObject({ selection: undefined, cursor: 77, x: 'all' });
    },
  );
});

describe('the second cursor', () => {
  it('is set by a click with Alt, and pins nothing', () => {
    const { now, navigation } = setup();
    navigation.altClick({ x: 100, y: 50 });
    expect(now().secondCursor).toBe(500);
    expect(now().selection).toBeUndefined();
    expect(now().cursor).toBeUndefined();
    navigation.altClick({ x: 100, y: 50 });
    expect(now().secondCursor).toBeUndefined();
  });
});
