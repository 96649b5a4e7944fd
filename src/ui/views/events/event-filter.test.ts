import { describe, expect, it } from 'vitest';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import { ALL_EVENTS, eventChoice, isBadSize, isFiltering } from './event-filter.tsx';

const at = { ...DEFAULT_VIEW, cursor: 77 };

describe('the listed events', () => {
  it('include everything at first, wherever the cursor is', () => {
    expect(eventChoice(ALL_EVENTS, at, -1)).toEqual({
      actions: undefined,
      minBytes: undefined,
      maxBytes: undefined,
      stream: undefined,
      pool: undefined,
      search: '',
      at: undefined,
      window: undefined,
      allocation: undefined,
    });
  });

  it('depend on the cursor if the search asks for a state or an age', () => {
    const atOf = (search: string) => eventChoice(ALL_EVENTS, { ...at, search }, -1).at;
    expect(atOf('attention size>1MiB')).toBeUndefined();
    expect(atOf('state:live')).toBe(77);
    expect(atOf('attention age>1000')).toBe(77);
  });

  it('accept sizes as written, and ignore invalid ones', () => {
    const settings = { ...ALL_EVENTS, minSize: '1.5 MiB', maxSize: 'lots' };
    expect(eventChoice(settings, at, -1)).toMatchObject({
      minBytes: 1.5 * 2 ** 20,
      maxBytes: undefined,
    });
    expect([isBadSize('lots'), isBadSize(''), isBadSize('4Ki')]).toEqual([true, false, false]);
  });

  it('are limited to the window only if there is one', () => {
    const settings = { ...ALL_EVENTS, isWindowOnly: true };
    expect(eventChoice(settings, at, -1).window).toBeUndefined();
    const zoomed = { ...at, axis: 'time', x: { from: 10, to: 20 } } as const;
    expect(eventChoice(settings, zoomed, -1).window).toEqual({ axis: 'time', from: 10, to: 20 });
    expect(eventChoice(ALL_EVENTS, zoomed, -1).window).toBeUndefined();
  });

  it('are limited to the selected allocation only if there is one', () => {
    const settings = { ...ALL_EVENTS, isSelectedOnly: true };
    expect(eventChoice(settings, at, -1).allocation).toBeUndefined();
    expect(eventChoice(settings, at, 5).allocation).toBe(5);
  });

  it('tells a filter from none', () => {
    expect(isFiltering(ALL_EVENTS)).toBe(false);
    expect(isFiltering({ ...ALL_EVENTS, actions: ['oom'] })).toBe(true);
  });
});
