import { describe, expect, it } from 'vitest';
import type { OomInfo } from '../../device/model/types.ts';
import { deviceInfo } from '../../testing/device-info.ts';
import { markersInView, markersOf } from './markers.ts';

const oom = (event: number): OomInfo => ({
  event,
  timeUs: event * 10,
  requestedBytes: 2 ** 20,
  deviceFreeBytes: Number.NaN,
  wasRetried: false,
});

describe('markers', () => {
  it('stands in the middle of its event, or at its time', () => {
    const device = deviceInfo({ ooms: [oom(7)], snapshots: [9] });
    expect(markersOf(device, 'event', []).items.map(({ x }) => x)).toEqual([7.5, 9.5]);
    expect(markersOf(device, 'time', [95]).items.map(({ x }) => x)).toEqual([70, 95]);
  });

  it('leaves out a snapshot whose time is not known yet', () => {
    const device = deviceInfo({ snapshots: [9] });
    expect(markersOf(device, 'time', []).items).toEqual([]);
  });

  it('says that what was free on the device was not recorded', () => {
    const [marker] = markersOf(deviceInfo({ ooms: [oom(7)] }), 'event', []).items;
    expect(marker?.content.lines).toContain('free GPU memory: not recorded');
  });

  it('tells an OOM that was retried from one that the program saw', () => {
    const device = deviceInfo({ ooms: [oom(7), { ...oom(8), wasRetried: true }] });
    const { items } = markersOf(device, 'event', []);
    expect(items.map(({ kind, content }) => [kind, content.title])).toEqual([
      ['oom', 'Out of memory'],
      ['retried', 'Retried: your program saw no error'],
    ]);
  });

  it('draws at most one a pixel of a retry storm, and only those in view', () => {
    const ooms = Array.from({ length: 10_000 }, (_, event) => oom(event));
    const markers = markersOf(deviceInfo({ ooms, events: 10_000 }), 'event', []);
    expect(markersInView(markers, 0, 10_000, 100).length).toBeLessThanOrEqual(101);
    expect(markersInView(markers, 50, 60, 100).map(({ x }) => x)).toEqual(
      Array.from({ length: 10 }, (_, i) => 50.5 + i),
    );
  });
});
