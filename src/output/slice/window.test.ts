import { describe, expect, it } from 'vitest';
import { memoized } from '../../base/collections.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { allCaptureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf, describeStack } from '../../testing/contexts.ts';
import { windowSnapshot } from './window-snapshot.ts';

/** Windows at the start, in the middle and to the end of a trace of n events. */
function windowsOf(n: number) {
  return [
    { from: Math.floor(n / 3), to: Math.floor((2 * n) / 3) },
    { from: Math.floor(n / 2), to: n },
    { from: 0, to: Math.floor(n / 4) },
    { from: Math.floor(0.9 * n), to: Math.floor(0.9 * n) + 1 },
  ].filter(({ from, to }) => to > from);
}

function liveStacks({ replay, snapshot }: DeviceModel, event: number): string[] {
  const { start, end, stack, address, sizeBytes, length } = replay.allocations;
  const textOf = memoized((row: number) => describeStack(snapshot, row));
  const rows: string[] = [];
  for (let id = 0; id < length; id++) {
    if (start[id] > event || end[id] <= event) continue;
    rows.push(`${address[id]} ${sizeBytes[id]} ${textOf(stack[id])}`);
  }
  return rows.sort();
}

describe.each(allCaptureNames().filter((name) => !isRepeated(name)))('%s', (name) => {
  it('keeps counters and stacks inside each window', () => {
    for (const whole of contextsOf(loadCapture(name))) {
      for (const window of windowsOf(whole.trace.events.length)) {
        const [part] = contextsOf(windowSnapshot(whole, window));
        const shift = -window.from;
        expect(part?.replay.anomalyCount).toBe(whole.replay.anomalyCount);
        for (let event = window.from; event < window.to; event += 1 + Math.floor(event / 50)) {
          expect(part?.replay.countersAt(event + shift)).toEqual(whole.replay.countersAt(event));
        }
        const last = window.to - 1;
        expect(part?.replay.end).toEqual(whole.replay.countersAt(last));
        expect(part && liveStacks(part, last + shift)).toEqual(liveStacks(whole, last));
      }
    }
  });
});
