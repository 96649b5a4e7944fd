import { describe, expect, it } from 'vitest';
import type { SessionApi } from '../../engine/protocol.ts';
import { DEFAULT_VIEW } from '../../state/view-store.ts';
import { deviceInfo, NO_PEAKS } from '../../testing/device-info.ts';
import { timelineSource } from './timeline-source.ts';

const session: Pick<SessionApi, 'frame' | 'recycle' | 'hit' | 'crosshair'> = {
  frame: () => Promise.reject(new Error('Not asked here')),
  recycle: () => Promise.resolve(undefined),
  hit: () => Promise.resolve(undefined),
  crosshair: () => Promise.reject(new Error('Not asked here')),
};

describe('the stack of all allocations', () => {
  const device = deviceInfo({
    peaks: {
      ...NO_PEAKS,
      activeBytes: { bytes: 1_000_000, event: 3 },
      reservedBytes: { bytes: 4_000_000, event: 3 },
    },
  });
  const source = timelineSource(device, session);

  it('fits to the lines that are drawn', () => {
    expect(source.heights(DEFAULT_VIEW).fittedBytes).toBe(4_000_000);
    expect(source.heights({ ...DEFAULT_VIEW, lines: [] })).toEqual({
      reachBytes: 4_000_000,
      fittedBytes: 1_000_000,
    });
  });
});
