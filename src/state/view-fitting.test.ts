import { describe, expect, it } from 'vitest';
import type { SessionInfo } from '../core/device/types.ts';
import { deviceInfo } from '../testing/device-info.ts';
import { placesBeyond, viewFitting } from './view-fitting.ts';
import { DEFAULT_VIEW } from './view-store.ts';

const info: SessionInfo = {
  file: {
    name: 'x.pickle',
    bytes: 1,
    container: 'pickle',
    protocol: 4,
    decoder: 'columnar',
    partial: undefined,
  },
  devices: [deviceInfo({ events: 284 }), deviceInfo({ index: 1, events: 0 })],
  settings: {},
  warnings: [],
};

describe('a link to places beyond the trace', () => {
  it('loses them, and says so', () => {
    const view = { ...DEFAULT_VIEW, cursor: 5000, mark: 284 };
    expect(viewFitting(view, info)).toMatchObject({ cursor: undefined, mark: undefined });
    expect(placesBeyond(view, info)).toEqual([
      'The link leads to event 5,000, but this trace ends with event 283: the end is shown.',
      'The link marks event 284, but this trace ends with event 283: there is no mark.',
    ]);
  });

  it('keeps those within', () => {
    const view = { ...DEFAULT_VIEW, cursor: 283, mark: 0 };
    expect(viewFitting(view, info)).toMatchObject({ cursor: 283, mark: 0 });
    expect(placesBeyond(view, info)).toEqual([]);
  });

  it('says of a device without a trace that it has none', () => {
    const [sentence] = placesBeyond({ ...DEFAULT_VIEW, deviceIndex: 1, cursor: 3 }, info);
    expect(sentence).toContain('this trace has no events');
  });
});
