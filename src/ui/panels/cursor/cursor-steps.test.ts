import { describe, expect, it } from 'vitest';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { createViewStore, DEFAULT_VIEW } from '../../../state/view-store.ts';
import { deviceInfo } from '../../../testing/device-info.ts';
import { byteChange, jumpsOf, LISTED_OOMS } from './cursor-bar.tsx';
import { cursorEvent, cursorKeys, nextOom, stepped } from './cursor-steps.ts';

const ooms = [100, 250].map((event) => ({
  event,
  timeUs: event,
  requestedBytes: 4096,
  deviceFreeBytes: 0,
  wasRetried: false,
}));
const device: DeviceInfo = deviceInfo({ events: 300, ooms });

describe('the cursor', () => {
  it('is at the end if it has no place, or one beyond the trace', () => {
    expect(cursorEvent(device, undefined)).toBe(299);
    expect(cursorEvent(device, 10_000)).toBe(299);
    expect(cursorEvent(device, 7)).toBe(7);
  });

  it('steps within the trace', () => {
    expect(stepped(device, undefined, -1)).toBe(298);
    expect(stepped(device, 5, -100)).toBe(0);
    expect(stepped(device, 298, 100)).toBe(299);
    expect(stepped(device, 10_000, 1)).toBe(299);
  });

  it('goes from OOM to OOM, and wraps around', () => {
    expect(nextOom(device, undefined, 1)).toBe(100);
    expect(nextOom(device, 100, 1)).toBe(250);
    expect(nextOom(device, 250, 1)).toBe(100);
    expect(nextOom(device, undefined, -1)).toBe(250);
    expect(nextOom(device, 100, -1)).toBe(250);
    expect(nextOom({ ...device, ooms: [] }, 5, 1)).toBeUndefined();
    const retried = { ...ooms[0], event: 180, wasRetried: true };
    expect(nextOom({ ...device, ooms: [...ooms, retried] }, 100, 1)).toBe(250);
  });
});

describe('the jumps', () => {
  it('cannot lead to a peak from before the trace', () => {
    const before = { bytes: 512, event: -1 };
    const late = { ...device, peaks: { ...device.peaks, reservedBytes: before } };
    const jump = jumpsOf(late).find(({ label }) => label === 'Peak reserved');
    expect(jump).toMatchObject({ event: undefined, bytes: 512 });
  });

  it('list the first OOMs of many', () => {
    const flood = Array.from({ length: 50 }, (_, event) => ({ ...ooms[0], event }));
    const listed = jumpsOf(deviceInfo({ events: 300, ooms: flood })).filter(({ label }) =>
      label.startsWith('Out of memory'),
    );
    expect(listed).toHaveLength(LISTED_OOMS);
    expect(listed[1]).toMatchObject({ label: 'Out of memory, 2 of 50', event: 1 });
  });
});

describe('keys', () => {
  it.each([
    { key: ',' as const, cursor: 9 },
    { key: '.' as const, cursor: 11 },
    { key: '<' as const, cursor: 0 },
    { key: '>' as const, cursor: 110 },
    { key: 'o' as const, cursor: 100 },
    { key: 'O' as const, cursor: 250 },
    { key: 'e' as const, cursor: 299 },
  ])('$key', ({ key, cursor }) => {
    const view = createViewStore({ ...DEFAULT_VIEW, cursor: 10 });
    cursorKeys(device, view)[key]();
    expect(view.getState().view.cursor).toBe(cursor);
  });

  it('set the second cursor where the cursor is, and clear it', () => {
    const view = createViewStore({ ...DEFAULT_VIEW, cursor: 10 });
    cursorKeys(device, view).m();
    expect(view.getState().view).toMatchObject({ cursor: 10, secondCursor: 10 });
    cursorKeys(device, view).M();
    expect(view.getState().view.secondCursor).toBeUndefined();
  });

  it('leave the cursor unchanged if a peak was before the trace', () => {
    const view = createViewStore({ ...DEFAULT_VIEW, cursor: 10 });
    const peaks = { ...device.peaks, allocatedBytes: { bytes: 1, event: -1 } };
    cursorKeys({ ...device, peaks }, view).p();
    expect(view.getState().view.cursor).toBe(10);
  });
});

it('says changes of bytes with their sign', () => {
  expect([0, 1536, -512].map(byteChange)).toEqual(['±0', '+1.50 KiB', '−512 bytes']);
});
