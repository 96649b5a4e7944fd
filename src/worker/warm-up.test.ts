import { expect, it } from 'vitest';
import { replayDevice } from '../allocator/replay/replay.ts';
import { SnapshotDecoder } from '../format/snapshot/decoder.ts';
import { madeUpPickle, warmUp } from './warm-up.ts';

const clock = { now: () => performance.now(), yieldTask: () => Promise.resolve() };

it('generates a valid snapshot', () => {
  const decoder = new SnapshotDecoder();
  decoder.push(madeUpPickle());
  const { devices, settings } = decoder.finish();
  const replay = replayDevice(devices[0], settings);
  expect(replay.recording).toBe('complete');
  expect(replay.anomalyCount).toBe(0);
  expect(replay.allocations.length).toBe(40 * 60);
  expect(replay.peaks.activeBytes.bytes).toBe(60 * 4096);
});

it('ends quietly when a real file comes', async () => {
  const controller = new AbortController();
  const done = warmUp(clock, controller.signal);
  controller.abort();
  await expect(done).resolves.toBeUndefined();
});
