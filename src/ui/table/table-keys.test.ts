import { describe, expect, it } from 'vitest';
import { rowForKey } from './table-keys.ts';

const place = { active: 50, rowCount: 10_000_000, rowsPerPage: 22, firstVisible: 40 };

describe('keys in a table', () => {
  it('move by rows, by pages and to the very ends', () => {
    const rows = ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'].map((key) =>
      rowForKey(key, place),
    );
    expect(rows).toEqual([51, 49, 72, 28, 0, 9_999_999]);
  });

  it('stop at the ends', () => {
    expect(rowForKey('ArrowUp', { ...place, active: 0 })).toBe(0);
    expect(rowForKey('PageDown', { ...place, active: 9_999_990 })).toBe(9_999_999);
  });

  it('begin at what is visible', () => {
    expect(rowForKey('ArrowDown', { ...place, active: undefined })).toBe(40);
    expect(rowForKey('ArrowUp', { ...place, active: undefined })).toBe(40);
  });

  it('lead nowhere in an empty table, nor do other keys', () => {
    expect(rowForKey('End', { ...place, active: undefined, rowCount: 0 })).toBeUndefined();
    expect(rowForKey('x', place)).toBeUndefined();
  });
});
