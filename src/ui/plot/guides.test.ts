import { describe, expect, it } from 'vitest';
import { deviceInfo } from '../../testing/device-info.ts';
import { fittedWithLimit, stepsInView } from './guides.ts';

const device = deviceInfo({ events: 1000 });
const steps = (events: readonly number[], timesUs = events.map((event) => event * 7)) => ({
  count: events.length,
  events,
  timesUs,
});

describe('marks of steps', () => {
  it('are those in view, by event and by time', () => {
    const found = steps([0, 100, 200, 300]);
    expect(stepsInView(found, device, { axis: 'event', x0: 50, x1: 250 }, 500)).toEqual([100, 200]);
    expect(stepsInView(found, device, { axis: 'time', x0: 0, x1: 1400 }, 500)).toEqual([
      0, 700, 1400,
    ]);
  });

  it('are some of them where they would run into each other, and all once there is room', () => {
    const many = steps(Array.from({ length: 200 }, (_, i) => 5 * i));
    const whole = stepsInView(many, device, { axis: 'event', x0: 0, x1: 1000 }, 500);
    expect(whole.length).toBeLessThanOrEqual(50);
    expect(whole.length).toBeGreaterThan(20);
    const part = stepsInView(many, device, { axis: 'event', x0: 100, x1: 200 }, 500);
    expect(part).toHaveLength(21);
  });

  it('are none where none were found, or where the trace has no times', () => {
    const view = { axis: 'time', x0: 0, x1: 1000 } as const;
    expect(stepsInView(undefined, device, view, 500)).toEqual([]);
    expect(stepsInView(steps([1, 2], [Number.NaN, Number.NaN]), device, view, 500)).toEqual([]);
  });
});

describe('a limit', () => {
  it('is in a fitted plot where it is near, and takes no room of the picture where it is far', () => {
    expect(fittedWithLimit(100)).toBe(100);
    expect(fittedWithLimit(100, 90)).toBe(100);
    expect(fittedWithLimit(100, 120)).toBe(120);
    expect(fittedWithLimit(100, 800)).toBe(100);
  });
});
