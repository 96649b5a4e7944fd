import { describe, expect, it } from 'vitest';
import { createViewStore } from '../../state/view-store.ts';
import { crosshairOf, deviceInfo } from '../../testing/device-info.ts';
import { fakeSession } from '../../testing/fake-session.ts';
import type { PixelInfo, PixelRequest } from '../../worker/protocol.ts';
import { plotStyle } from '../theme/palette.ts';
import { Crosshairs } from './event-markers.ts';
import { PlotHover } from './plot-hover.ts';
import type { PlotHit } from './plot-source.ts';
import { createOverlayStore } from './plot-source.ts';

const VIEWPORT = { axis: 'event', x0: 0, x1: 10, y0: 0, y1: 100, width: 10, height: 10 } as const;

/** A plot of ten events, one per column. It counts what it asks the worker. */
function setUp() {
  const requests: string[] = [];
  const answers: (() => void)[] = [];
  const events: number[] = [];
  const hit = ({ state }: PixelRequest): Promise<PixelInfo<PlotHit>> => {
    requests.push(`hit at ${state}`);
    return new Promise((resolve) => {
      answers.push(() => resolve({ hit: undefined, crosshair: crosshairOf(state) }));
    });
  };
  const device = deviceInfo({ events: 10 });
  const session = fakeSession({
    crosshair: ({ event }) => {
      requests.push(`crosshair at ${event}`);
      return Promise.resolve(crosshairOf(event));
    },
  });
  const repaint = () => hover.paint(plotStyle('light'));
  const hover = new PlotHover({
    device,
    view: createViewStore(),
    crosshairs: new Crosshairs({ device, session, onError: () => undefined }, repaint),
    plot: () => ({ viewport: VIEWPORT, width: 10, height: 10, pixelRatio: 1, cursorX: undefined }),
    stateAt: (_, column) => column,
    source: { hit, heightText: String },
    context: null,
    readOut: ({ event }) => events.push(event),
    overlays: createOverlayStore(),
    repaint,
  });
  const moveTo = (x: number) => hover.setPointer({ x, y: 5, clientX: x, clientY: 5 });
  /** Answers the pending query, and lets the page receive the answer. */
  const answer = async () => {
    answers.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { hover, requests, events, moveTo, answer };
}

describe('a hover', () => {
  it('sends one request for a move of the pointer, however often it is painted', async () => {
    const { hover, requests, events, moveTo, answer } = setUp();
    moveTo(3);
    hover.ask();
    hover.paint(plotStyle('light'));
    await answer();
    hover.paint(plotStyle('light'));
    expect(requests).toEqual(['hit at 3']);
    expect(events).toEqual([3]);
  });

  it('sends none while the pointer stays in its pixel, and one for the next', async () => {
    const { requests, moveTo, answer } = setUp();
    moveTo(3.1);
    await answer();
    moveTo(3.9);
    expect(requests).toHaveLength(1);
    moveTo(4.1);
    expect(requests).toEqual(['hit at 3', 'hit at 4']);
  });

  it('skips what the pointer has passed while it waited for an answer', async () => {
    const { requests, events, moveTo, answer } = setUp();
    for (const x of [1, 2, 3, 4]) moveTo(x);
    await answer();
    await answer();
    expect(requests).toEqual(['hit at 1', 'hit at 4']);
    expect(events).toEqual([1, 4]);
  });

  it('drops the answer when the pointer has left', async () => {
    const { requests, events, moveTo, hover, answer } = setUp();
    moveTo(1);
    hover.setPointer(undefined);
    await answer();
    expect(requests).toEqual(['hit at 1', 'crosshair at 9']);
    // The figures at the end of the trace.
    expect(new Set(events)).toEqual(new Set([9]));
  });
});
