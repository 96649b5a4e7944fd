import { describe, expect, it, test } from 'vitest';
import type { AddressHit } from '../../../draw/address-map/address-hits.ts';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import { crosshairOf, deviceInfo } from '../../../testing/device-info.ts';
import { fakeSession } from '../../../testing/fake-session.ts';
import type { PixelRequest } from '../../../worker/protocol.ts';
import { addressSource, outlinedText } from './address-source.ts';

const GAP: AddressHit = {
  block: undefined,
  gap: { from: 400, to: 900 },
  freeBytes: 10,
  segment: undefined,
  segments: 1,
};
const BLOCK: AddressHit = {
  ...GAP,
  block: {
    count: 1,
    allocation: 7,
    label: 'b7f_0',
    blockBytes: 300,
    requestedBytes: 290,
    ageEvents: 1,
    ageUs: 1,
    isFromBefore: false,
    pending: false,
    stackKind: 'no-context',
    topFrame: undefined,
    totalBytes: 300,
    bottomBytes: 100,
  },
};
const PLACE: PixelRequest = { state: 3, bytesFrom: 500, bytesTo: 510 };

function sourceOf(hit: AddressHit, newest?: { readonly from: number; readonly to: number }) {
  const pinned: (PixelRequest | undefined)[] = [];
  const source = addressSource({
    device: deviceInfo(),
    session: fakeSession({
      addressHit: ({ state }) => Promise.resolve({ hit, crosshair: crosshairOf(state) }),
      newestAddress: () => Promise.resolve(newest),
    }),
    slots: {
      slots: [{ address: 0x1000n, sizeBytes: 2000, offset: 0, segments: 1, kind: 'large' }],
      totalBytes: 2000,
      segments: 1,
      strays: 0,
    },
    onPinned: (place) => pinned.push(place),
  });
  return { source, pinned };
}

describe('the address map as a plot', () => {
  test('has a window of its own in y', () => {
    const { source } = sourceOf(GAP);
    const view = { ...DEFAULT_VIEW, y: { from: 1, to: 2 }, addresses: { from: 3, to: 4 } };
    expect(view[source.yField]).toEqual({ from: 3, to: 4 });
    expect(source.heights(view)).toEqual({ reachBytes: 2000, fittedBytes: 2000 });
    expect(source.heightText(512)).toBe('0x1200');
  });

  test('a block is pinned as an allocation, from its lower to its upper edge', async () => {
    expect((await sourceOf(BLOCK).source.hit(PLACE)).hit).toMatchObject({
      bottomBytes: 100,
      topBytes: 400,
      selection: 'b7f_0',
    });
  });

  test('a hover finds a whole gap, and selects nothing', async () => {
    expect((await sourceOf(GAP).source.hit(PLACE)).hit).toMatchObject({
      bottomBytes: 400,
      topBytes: 900,
      selection: undefined,
    });
    const bare = await sourceOf({ ...GAP, gap: undefined }).source.hit(PLACE);
    expect(bare.hit).toMatchObject({ bottomBytes: 500, topBytes: 510, selection: undefined });
  });

  test('Enter goes to the newest block, or nowhere', async () => {
    const { source } = sourceOf(GAP, { from: 8, to: 9 });
    expect(await source.newestAt(3)).toEqual({ state: 3, bytesFrom: 8, bytesTo: 9 });
    expect(await sourceOf(GAP).source.newestAt(3)).toBeUndefined();
  });

  test('requests the same picture while the cursor moves and there is no search', () => {
    const { source } = sourceOf(GAP);
    const viewport = { axis: 'event', x0: 0, x1: 9, y0: 0, y1: 9, width: 9, height: 9 } as const;
    const request = (view: typeof DEFAULT_VIEW) =>
      source.request(viewport, { view, theme: 'dark', selected: -1, highlighted: '' });
    expect(request({ ...DEFAULT_VIEW, cursor: 5 })).toEqual(request(DEFAULT_VIEW));
    const searched = { ...DEFAULT_VIEW, search: 'state:live' };
    expect(request({ ...searched, cursor: 5 })).not.toEqual(request(searched));
  });
});

it('says how many of the blocks of a finding have an outline', () => {
  expect(outlinedText(12)).toBe('blocks of the finding');
  expect(outlinedText(2315)).toBe('blocks of the finding (the 1,000 largest of 2,315)');
});
