import { expect, it } from 'vitest';
import { shrink } from './shrink.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Fails if the text holds all of these letters, in this order. */
const holds = (letters: string) => async (bytes: Uint8Array) =>
  new RegExp([...letters].join('.*')).test(decoder.decode(bytes));

it('keeps what makes a file fail, and nothing else', async () => {
  const long = encoder.encode(`${'a'.repeat(300)}X${'b'.repeat(700)}YZ${'c'.repeat(5)}`);
  expect(decoder.decode(await shrink(long, holds('XYZ')))).toBe('XYZ');
  expect(decoder.decode(await shrink(long, holds('b')))).toBe('b');
});

it('finds the smallest file even if one part needs another', async () => {
  // A 'Y' needs an 'X' before it: the last pass over single bytes removes both, one after the other.
  const needs = async (bytes: Uint8Array) => /^(?!.*Y)|X.*Y/.test(decoder.decode(bytes));
  expect(await shrink(encoder.encode('aXbYc'), needs)).toHaveLength(0);
});

it('ends when its time is over, with what it has', async () => {
  let nowMs = 0;
  const isSame = async (bytes: Uint8Array) => {
    nowMs += 10;
    return bytes.length >= 250;
  };
  const options = { limitMs: 15, now: () => nowMs };
  expect(await shrink(new Uint8Array(1000), isSame, options)).toHaveLength(500);
});
