import { describe, expect, it } from 'vitest';
import {
  type Column,
  cloneColumn,
  createTable,
  finished,
  gather,
  grow,
  mapRefs,
  pick,
  refColumns,
  slice,
  type TableOf,
  type TableSchema,
  validate,
} from './table.ts';

const FRUIT = {
  name: { type: 'i32', ref: 'string' },
  color: { type: 'u8', below: 3 },
  grams: { type: 'f64', optional: true },
  parent: { type: 'i32', ref: 'fruit', orNone: true },
} as const satisfies TableSchema;

const fruit: TableOf<typeof FRUIT> = {
  length: 3,
  name: Int32Array.of(4, 5, 6),
  color: Uint8Array.of(0, 1, 2),
  grams: Float64Array.of(0.5, 1.5, 2.5),
  parent: Int32Array.of(-1, 0, 1),
};
const withoutGrams = { ...fruit, grams: undefined };

describe('a finished column', () => {
  const narrowing = { type: 'f64', isCount: true, mayNarrow: true } as const;

  it('takes half the memory if its numbers are whole and below 2^32', () => {
    const column = Float64Array.from({ length: 1000 }, (_, i) => (i * 4_294_967) % 2 ** 32);
    column[999] = 2 ** 32 - 1;
    const numbers = [...column];
    const narrow = finished(column, narrowing, 1000);
    expect(narrow).toEqual(Uint32Array.from(numbers));
    expect(narrow.buffer.byteLength).toBe(4000);
    expect(column).toEqual(Float64Array.from(numbers));
  });

  it('is cut to its length', () => {
    expect(finished(Float64Array.of(512, 1024, -1), narrowing, 2)).toEqual(
      Uint32Array.of(512, 1024),
    );
    expect(finished(Int32Array.of(7, 8, 9), { type: 'i32' }, 1)).toEqual(Int32Array.of(7));
  });

  it.each([2 ** 32, -1, 0.5, Number.NaN])('is unchanged if it contains %d', (odd) => {
    const column = Float64Array.of(512, odd, 1024);
    expect(finished(column, narrowing, 2)).toEqual(Float64Array.of(512, odd));
  });

  it('is unchanged if the schema does not allow narrowing', () => {
    const column = Float64Array.of(512);
    expect(finished(column, { type: 'f64' })).toEqual(Float64Array.of(512));
  });
});

describe('rows of a table', () => {
  it('are views when sliced', () => {
    const part = slice(FRUIT, fruit, 1, 3);
    expect(part).toEqual({
      length: 2,
      name: Int32Array.of(5, 6),
      color: Uint8Array.of(1, 2),
      grams: Float64Array.of(1.5, 2.5),
      parent: Int32Array.of(0, 1),
    });
    expect(part.name.buffer).toBe(fruit.name.buffer);
    expect(slice(FRUIT, withoutGrams, 0, 1).grams).toBeUndefined();
  });

  it('keep the edge after the last row', () => {
    const schema = { first: { type: 'i32', ref: 'row', isEdges: true } } as const;
    const table = { length: 3, first: Int32Array.of(0, 2, 5, 9) };
    expect(slice(schema, table, 1, 3).first).toEqual(Int32Array.of(2, 5, 9));
  });

  it('are copies when gathered, in the requested order', () => {
    const picked = gather(FRUIT, fruit, [2, 0, 2]);
    expect(picked.name).toEqual(Int32Array.of(6, 4, 6));
    expect(picked.grams).toEqual(Float64Array.of(2.5, 0.5, 2.5));
    expect(gather(FRUIT, withoutGrams, [1]).grams).toBeUndefined();
  });

  it('stay when the table grows', () => {
    const full = createTable(FRUIT, 2);
    full.color[1] = 2;
    expect(grow(FRUIT, full, 4).color).toEqual(Uint8Array.of(0, 2, 0, 0));
    expect(createTable({ first: { type: 'i32', isEdges: true } }, 0).first.length).toBe(1);
  });
});

it('copies its columns piece by piece', async () => {
  const long = Int32Array.from({ length: 150_000 }, (_, i) => i);
  let pauses = 0;
  const copy = await cloneColumn(long, async () => {
    pauses++;
  });
  expect(copy).toEqual(long);
  expect(copy.buffer).not.toBe(long.buffer);
  expect(pauses).toBe(3);
});

it('renumbers its references, and nothing else', () => {
  const roomy = { ...fruit, name: Int32Array.of(4, 5, 6, 99), note: 'x' };
  const mapped = mapRefs(FRUIT, roomy, { string: (row) => row * 10, fruit: (row) => row + 7 });
  expect(mapped).toEqual({
    ...fruit,
    name: Int32Array.of(40, 50, 60),
    parent: Int32Array.of(-1, 7, 8),
    note: 'x',
  });
  expect(refColumns(FRUIT, roomy, 'string')).toEqual([Int32Array.of(4, 5, 6)]);
  expect(pick(FRUIT, ['color'])).toEqual({ color: { type: 'u8', below: 3 } });
});

describe('validate', () => {
  const counts = { string: 7, fruit: 3 };
  const check = (changes: Readonly<Record<string, Column | undefined>>) => {
    const { length, ...columns } = { ...fruit, ...changes };
    return validate(FRUIT, (name) => columns[name as keyof typeof columns], counts);
  };

  it('returns the table, with or without an optional column', () => {
    expect(check({})).toEqual(fruit);
    expect(check({ grams: undefined })).toEqual(withoutGrams);
  });

  it.each<[string, Readonly<Record<string, Column | undefined>>]>([
    ['a column is missing', { name: undefined }],
    ['a later column is missing', { parent: undefined }],
    ['a column is longer', { grams: new Float64Array(4) }],
    ['a column is of another type', { color: new Uint16Array(3) }],
    ['a row does not exist', { name: Int32Array.of(0, 1, 7) }],
    ['a row is none where there must be one', { name: Int32Array.of(0, 1, -1) }],
    ['a row is below none', { parent: Int32Array.of(-2, 0, 1) }],
    ['a value is none of its kind', { color: Uint8Array.of(0, 1, 3) }],
  ])('returns nothing if %s', (_, changes) => {
    expect(check(changes)).toBeUndefined();
  });

  it('allows the last edge to be the number of rows, but no more', () => {
    const schema = {
      first: { type: 'i32', ref: 'row', isEdges: true },
      n: { type: 'u8' },
    } as const;
    const edges = (last: number) =>
      validate(schema, (name) => (name === 'n' ? new Uint8Array(1) : Int32Array.of(0, last)), {
        row: 5,
      });
    expect(edges(5)?.length).toBe(1);
    expect(edges(6)).toBeUndefined();
  });
});
