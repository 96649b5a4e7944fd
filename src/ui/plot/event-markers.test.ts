import { describe, expect, it } from 'vitest';
import type { OomInfo } from '../../device/model/device-info.ts';
import { crosshairOf, deviceInfo } from '../../testing/device-info.ts';
import { fakeSession } from '../../testing/fake-session.ts';
import { Crosshairs, markersInView, markersOf, stepsInView } from './event-markers.ts';

const oom = (event: number): OomInfo => ({
  event,
  timeUs: event * 10,
  requestedBytes: 2 ** 20,
  deviceFreeBytes: Number.NaN,
  wasRetried: false,
});

describe('markers', () => {
  it('stands in the middle of its event, or at its time', () => {
    const device = deviceInfo({ ooms: [oom(7)], snapshots: [{ event: 9, timeUs: 95 }] });
    expect(markersOf(device, 'event').items.map(({ x }) => x)).toEqual([7.5, 9.5]);
    expect(markersOf(device, 'time').items.map(({ x }) => x)).toEqual([70, 95]);
  });

  it('omits, by time, a snapshot whose time is not recorded', () => {
    const device = deviceInfo({ snapshots: [{ event: 9, timeUs: Number.NaN }] });
    expect(markersOf(device, 'time').items).toEqual([]);
  });

  it('says that what was free on the device was not recorded', () => {
    const [marker] = markersOf(deviceInfo({ ooms: [oom(7)] }), 'event').items;
    expect(marker?.content.lines).toContain('free memory: not recorded');
  });

  it('distinguishes a retried OOM from one that the program saw', () => {
    const device = deviceInfo({ ooms: [oom(7), { ...oom(8), wasRetried: true }] });
    const { items } = markersOf(device, 'event');
    expect(items.map(({ kind, content }) => [kind, content.title])).toEqual([
      ['oom', 'Out of memory'],
      ['retried', 'Retried: your program saw no error'],
    ]);
  });

  it('shows an OOM that follows retries in the same pixel', () => {
    const ooms = Array.from({ length: 25 }, (_, i) => ({ ...oom(9_000 + i), wasRetried: i < 24 }));
    const markers = markersOf(deviceInfo({ ooms, events: 10_000 }), 'event');
    const shown = markersInView(markers, 0, 10_000, 100);
    expect(shown.map(({ kind }) => kind)).toEqual(['retried', 'oom']);
  });

  it('draws at most one per pixel of many retries, and only those in view', () => {
    const ooms = Array.from({ length: 10_000 }, (_, event) => oom(event));
    const markers = markersOf(deviceInfo({ ooms, events: 10_000 }), 'event');
    expect(markersInView(markers, 0, 10_000, 100).length).toBeLessThanOrEqual(101);
    expect(markersInView(markers, 50, 60, 100).map(({ x }) => x)).toEqual(
      Array.from({ length: 10 }, (_, i) => 50.5 + i),
    );
  });
});

function setUp() {
  const asked: number[] = [];
  let known = 0;
  const session = fakeSession({
    crosshair: async ({ event }) => {
      asked.push(event);
      return { ...crosshairOf(event), timeUs: event * 10 };
    },
  });
  const device = deviceInfo({ hasTime: true, durationUs: 990 });
  const onError = (error: unknown) => {
    throw error;
  };
  const places = new Crosshairs({ session, device, onError }, () => known++);
  return { places, asked, known: () => known };
}

describe('places of events', () => {
  it('are the events themselves on their own axis', () => {
    const { places, asked } = setUp();
    expect([-1, 0, 42, 100].map((event) => places.xOf(event, 'event'))).toEqual([0, 0, 42, 100]);
    expect(asked).toEqual([]);
  });

  it('by time are requested once, and reported when they arrive', async () => {
    const { places, asked, known } = setUp();
    expect(places.xOf(42, 'time')).toBeUndefined();
    expect(places.xOf(42, 'time')).toBeUndefined();
    await Promise.resolve();
    expect(asked).toEqual([42]);
    await expect.poll(known).toBe(1);
    expect(places.xOf(42, 'time')).toBe(420);
  });

  it('by time are known at the ends of the trace', () => {
    const { places, asked } = setUp();
    expect([-1, 0, 100, 1000].map((event) => places.xOf(event, 'time'))).toEqual([0, 0, 991, 991]);
    expect(asked).toEqual([]);
  });
});

const steps = (events: readonly number[], timesUs = events.map((event) => event * 7)) => ({
  count: events.length,
  noun: 'step',
  events,
  timesUs,
});

describe('marks of steps', () => {
  it('are those in view, by event and by time', () => {
    const found = steps([0, 100, 200, 300]);
    expect(stepsInView(found, deviceInfo(), { axis: 'event', x0: 50, x1: 250 }, 500)).toEqual([
      100, 200,
    ]);
    expect(stepsInView(found, deviceInfo(), { axis: 'time', x0: 0, x1: 1400 }, 500)).toEqual([
      0, 700, 1400,
    ]);
  });

  it('are only some if they would overlap, and all once there is space', () => {
    const many = steps(Array.from({ length: 200 }, (_, i) => 5 * i));
    const whole = stepsInView(many, deviceInfo(), { axis: 'event', x0: 0, x1: 1000 }, 500);
    expect(whole.length).toBeLessThanOrEqual(50);
    expect(whole.length).toBeGreaterThan(20);
    const part = stepsInView(many, deviceInfo(), { axis: 'event', x0: 100, x1: 200 }, 500);
    expect(part).toHaveLength(21);
  });

  it('are none if none were found, or if the trace has no times', () => {
    const view = { axis: 'time', x0: 0, x1: 1000 } as const;
    expect(stepsInView(undefined, deviceInfo(), view, 500)).toEqual([]);
    expect(stepsInView(steps([1, 2], [Number.NaN, Number.NaN]), deviceInfo(), view, 500)).toEqual(
      [],
    );
  });
});
