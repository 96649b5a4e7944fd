import { describe, expect, it } from 'vitest';
import { eventNumber } from './events-view.tsx';

describe('the number of an event', () => {
  it('is read with and without separators', () => {
    expect(eventNumber('6195', 6302)).toBe(6195);
    expect(eventNumber(' 6,195 ', 6302)).toBe(6195);
    expect(eventNumber('1_234_567', 2_000_000)).toBe(1_234_567);
    expect(eventNumber('0', 1)).toBe(0);
  });

  it('is invalid beyond the trace, like any other text', () => {
    for (const text of ['6302', '-1', '1.5', '1,2', 'oom', '', '99999999999']) {
      expect(eventNumber(text, 6302)).toBeUndefined();
    }
  });
});
