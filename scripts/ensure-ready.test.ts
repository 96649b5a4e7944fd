import { expect, it } from 'vitest';
import { isOlder } from './ensure-ready.mjs';

it.each([
  ['20.9.0', '20.19', true],
  ['18.20.4', '20.19', true],
  ['20.19.0', '20.19', false],
  ['20.20.2', '20.19', false],
  ['22.0.0', '20.19', false],
])('Node %s is older than %s: %s', (version, needed, expected) => {
  expect(isOlder(version, needed)).toBe(expected);
});
