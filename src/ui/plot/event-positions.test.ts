import { describe, expect, it } from 'vitest';
import { deviceInfo } from '../../testing/device-info.ts';
import type { SessionApi } from '../../worker/protocol.ts';
import { EventPositions } from './event-positions.ts';

const COUNTERS = {
  requestedBytes: 0,
  allocatedBytes: 0,
  activeBytes: 0,
  reservedBytes: 0,
  inactiveSplitBytes: 0,
};

function setUp() {
  const asked: number[] = [];
  let known = 0;
  const session: Pick<SessionApi, 'crosshair'> = {
    crosshair: async ({ event }) => {
      asked.push(event);
      return { event, action: 'alloc', timeUs: event * 10, counters: COUNTERS };
    },
  };
  const device = deviceInfo({ hasTime: true, durationUs: 990 });
  const places = new EventPositions(session, device, () => known++);
  return { places, asked, known: () => known };
}

describe('places of events', () => {
  it('are the events themselves on their own axis', () => {
    const { places, asked } = setUp();
    expect([-1, 0, 42, 100].map((event) => places.xOf(event, 'event'))).toEqual([0, 0, 42, 100]);
    expect(asked).toEqual([]);
  });

  it('by time are asked for once, and told when they are there', async () => {
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
