import { describe, expect, it } from 'vitest';
import { EXPORTS } from '../../output/export/exports.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { OpenDevice } from '../open-device.ts';
import { fileHandlers } from './files.ts';

/** 6,302 events make four pieces: at the fourth, progress is reported. */
const device = new OpenDevice(contextsOf(loadCapture('oom_fragmented.pickle.gz'))[0], nodeClock);
const REQUEST = { deviceIndex: 0, kind: 'counters-csv' } as const;

describe('a file for other programs', () => {
  it('consists of all its pieces, and reports their bytes', async () => {
    const told: number[] = [];
    const blob = await fileHandlers.exportFile(device, REQUEST, {
      signal: new AbortController().signal,
      onProgress: (bytes) => told.push(bytes),
    });
    expect(await blob.text()).toBe([...EXPORTS['counters-csv'].make(device.context)].join(''));
    expect(told.at(-1)).toBe(blob.size);
    expect(blob.type).toBe('text/csv');
  });

  it('is abandoned when cancelled', async () => {
    const controller = new AbortController();
    const file = fileHandlers.exportFile(device, REQUEST, {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(file).rejects.toThrow(controller.signal.reason);
  });
});
