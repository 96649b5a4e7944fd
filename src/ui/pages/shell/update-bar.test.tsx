import { expect, it } from 'vitest';
import { isLocallyServed } from './update-bar.tsx';

it('knows the address of the local server, which has no service worker', () => {
  const [served, hosted] = ['/5f0c11d2a94e4b7a8c0de1f2a3b4c5d6/', '/tools/vramscope/'];
  const hostname = '127.0.0.1';
  expect(isLocallyServed({ hostname, pathname: served })).toBe(true);
  expect(isLocallyServed({ hostname, pathname: hosted })).toBe(false);
  expect(isLocallyServed({ hostname: 'vramscope.dev', pathname: served })).toBe(false);
});
