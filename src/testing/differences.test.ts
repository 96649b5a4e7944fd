import { expect, test } from 'vitest';
import { differences } from './differences.ts';

const tables = () => ({
  sizeBytes: Float64Array.of(512, 1024, Number.NaN),
  names: ['a', 'b'],
  segments: { state: undefined, device: 0, rows: [{ address: 1 }, { address: 2 }] },
});

test('equal tables have none, treating missing and undefined alike', () => {
  const { state: _, ...segments } = tables().segments;
  expect(differences({ ...tables(), segments }, tables())).toEqual([]);
});

test('each column that differs is named with its first row', () => {
  const changed = tables();
  changed.sizeBytes.fill(7);
  changed.names[1] = 'c';
  expect(differences(changed, tables())).toEqual(['sizeBytes.0: 7, not 512', 'names.1: c, not b']);
});

test.each([
  ['a length', { names: ['a'] }, 'names.length: 1, not 2'],
  [
    'a kind',
    { sizeBytes: Float32Array.of(512, 1024, Number.NaN) },
    'sizeBytes: Float32Array, not Float64Array',
  ],
  ['what is not there', { names: undefined }, 'names: undefined, not Array'],
  ['what is there', { more: 0 }, 'more: 0, not undefined'],
  ['a sign', { segments: { ...tables().segments, device: -0 } }, 'segments.device: -0, not 0'],
  [
    'a part of a row',
    { segments: { ...tables().segments, rows: [{ address: 1 }, { address: 3 }] } },
    'segments.rows.1.address: 3, not 2',
  ],
])('%s counts', (_, change, message) => {
  expect(differences({ ...tables(), ...change }, tables())).toEqual([message]);
});
