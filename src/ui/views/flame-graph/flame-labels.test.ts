import { describe, expect, it } from 'vitest';
import { DEFAULT_FLAME, DEFAULT_VIEW, type ViewState } from '../../../state/view-store.ts';
import {
  countText,
  eventRangeText,
  exportName,
  setText,
  shareText,
  weightFormat,
} from './flame-labels.ts';
import { flameBoxesQuery, flameQuery } from './use-flame.ts';

describe('figures', () => {
  it('say their unit, and in a difference their direction', () => {
    expect(weightFormat('bytes', true, false).short(2048)).toBe('2.00 KiB');
    expect(weightFormat('bytes', true, true).short(2048)).toBe('+2.00 KiB');
    expect(weightFormat('allocated', true, true).exact(-2048)).toBe('-2,048 bytes');
    expect(weightFormat('count', true, false).short(1234)).toBe('1,234');
    expect(weightFormat('lifetime', true, false).short(2 ** 20 * 1e6)).toBe('1.00 MiB · s');
    expect(weightFormat('lifetime', false, false).short(2 ** 20 * 3)).toBe('3.00 MiB · events');
  });

  it('count in words', () => {
    expect(countText(1, false)).toBe('1 allocation');
    expect(countText(1200, true)).toBe('+1,200 allocations');
    expect(countText(-1, true)).toBe('-1 allocation');
  });

  it('never say 0% of something', () => {
    expect(shareText(1, 10_000)).toBe('< 0.1%');
    expect(shareText(-5, 10)).toBe('50.0%');
    expect(shareText(0, 10)).toBe('0.0%');
    expect(shareText(0, 0)).toBe('0%');
  });
});

describe('what is shown', () => {
  const at = { hasCursor: true, hasTrace: true };

  it('is described with its events', () => {
    expect(setText({ kind: 'live', event: 1000 }, 'peak', at)).toBe(
      'Live at the peak, after event 1,000',
    );
    expect(setText({ kind: 'live', event: -1 }, 'peak', at)).toBe('Live before the first event');
    expect(setText({ kind: 'difference', before: 1, after: 9 }, 'difference', at)).toBe(
      'Change from event 1 to event 9',
    );
    expect(setText({ kind: 'window', from: 3, to: 10 }, 'window', at)).toBe(
      'Allocated by events 3 to 9',
    );
  });

  it('is the end without a cursor, and says so; without a trace it is the snapshot', () => {
    const live = { kind: 'live', event: 8 } as const;
    expect(setText(live, 'cursor', { ...at, hasCursor: false })).toBe(
      'Live at the end, after event 8: no cursor is set',
    );
    expect(setText({ ...live, event: -1 }, 'end', { ...at, hasTrace: false })).toBe(
      'Live when the snapshot was taken',
    );
  });

  it('distinguishes no event, one and many', () => {
    expect([eventRangeText(4, 4), eventRangeText(4, 5), eventRangeText(4, 6)]).toEqual([
      'no event',
      'event 4',
      'events 4 to 5',
    ]);
  });
});

describe('files that are saved', () => {
  it('are named by the snapshot, the device and what they show', () => {
    const device = { kind: 'cuda', device: 1 } as const;
    expect(exportName('run 3.pickle.gz', DEFAULT_FLAME, device)).toBe('run 3-gpu1-peak-bytes');
    expect(exportName('host', DEFAULT_FLAME, { kind: 'host', device: 0 })).toBe(
      'host-host-peak-bytes',
    );
  });
});

describe('questions', () => {
  const view = (change: Partial<ViewState>, of: ViewState['flame']['dataset']): ViewState => ({
    ...DEFAULT_VIEW,
    ...change,
    flame: { ...DEFAULT_FLAME, dataset: of },
  });

  it('ignore parts of the view that make no difference', () => {
    const moved: Partial<ViewState> = { cursor: 7, secondCursor: 3, x: { from: 1, to: 2 } };
    expect(flameQuery(view(moved, 'peak'))).toEqual(flameQuery(view({}, 'peak')));
    expect(flameQuery(view(moved, 'cursor'))).toMatchObject({ cursor: 7, secondCursor: undefined });
    expect(flameQuery(view(moved, 'difference'))).toMatchObject({ cursor: 7, secondCursor: 3 });
    expect(flameQuery(view(moved, 'window')).window).toEqual({
      axis: 'event',
      from: 1,
      to: 2,
    });
  });

  it('with a search refer to the cursor', () => {
    const searched = view({ cursor: 7, search: 'state:live' }, 'peak');
    expect(flameQuery(searched).cursor).toBe(7);
  });

  it('ask for boxes down to a pixel, in steps', () => {
    expect(flameBoxesQuery(view({}, 'peak'), 700).smallestShare).toBe(1 / 1024);
    expect(flameBoxesQuery(view({}, 'peak'), 1000).smallestShare).toBe(1 / 1024);
    expect(flameBoxesQuery(view({}, 'peak'), 10).smallestShare).toBe(1 / 256);
  });
});
