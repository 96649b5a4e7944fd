import { describe, expect, test } from 'vitest';
import type { SegmentStackHit } from '../../../draw/address-map/segment-timeline.ts';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import { crosshairOf, deviceInfo } from '../../../testing/device-info.ts';
import { fakeSession } from '../../../testing/fake-session.ts';
import { segmentSource } from './segment-source.ts';

const HIT: SegmentStackHit = {
  count: 1,
  totalBytes: 100,
  bottomBytes: 40,
  main: {
    row: 6,
    label: 's7f_0',
    sizeBytes: 100,
    pool: 'large',
    privatePool: undefined,
    isExpandable: false,
    stream: '0',
    startEvent: 0,
    endEvent: 9,
    startUs: 0,
    endUs: 1,
    topFrame: undefined,
    stack: { kind: 'no-context', frames: [] },
    releaseStack: undefined,
  },
};
const PLACE = { state: 3, bytesFrom: 50, bytesTo: 60 };

function sourceOf(hit: SegmentStackHit | undefined, reservedBytes = 0) {
  const pinned: number[] = [];
  const device = deviceInfo();
  const source = segmentSource({
    device,
    session: fakeSession({
      segmentHitOverTime: ({ state }) => Promise.resolve({ hit, crosshair: crosshairOf(state) }),
      crosshair: ({ event }) =>
        Promise.resolve({
          event,
          action: 'alloc',
          timeUs: 0,
          counters: { ...device.end, reservedBytes },
        }),
    }),
    onPinned: (segment) => pinned.push(segment),
  });
  const viewport = { axis: 'event', x0: 0, x1: 9, y0: 0, y1: 9, width: 9, height: 9 } as const;
  const selected = () =>
    source.request(viewport, { view: DEFAULT_VIEW, theme: 'light', selected: 99, highlighted: '' })
      .selected;
  return { source, pinned, selected };
}

describe('segments over time as a plot', () => {
  test('what is pinned is outlined from then on, until it is unpinned', async () => {
    const { source, pinned, selected } = sourceOf(HIT);
    expect(selected()).toBe(-1);
    const { hit } = await source.hit(PLACE);
    expect(hit).toMatchObject({ bottomBytes: 40, topBytes: 140, selection: undefined });
    source.pinned?.(PLACE, hit);
    expect(selected()).toBe(6);
    source.pinned?.(undefined);
    expect(selected()).toBe(-1);
    expect(pinned).toEqual([6, -1]);
  });

  test('above the stack nothing is pinned', async () => {
    const { source, pinned } = sourceOf(undefined);
    source.pinned?.(PLACE, (await source.hit(PLACE)).hit);
    expect(pinned).toEqual([-1]);
  });

  test('Enter goes to the top of what is reserved, if anything is', async () => {
    expect(await sourceOf(HIT, 100).source.newestAt(3)).toEqual({
      state: 3,
      bytesFrom: 99,
      bytesTo: 100,
    });
    expect(await sourceOf(HIT, 0).source.newestAt(3)).toBeUndefined();
  });
});
