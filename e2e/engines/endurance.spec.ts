/** Long use where Playwright does not drive: file after file, and openings that are cancelled. */
import { resolve } from 'node:path';
import { expect } from '@playwright/test';
import {
  CANCELS,
  FILES,
  inTurn,
  KEPT,
  LIMIT_MS,
  MOST_GROWTH,
  OTHERS,
  slowFile,
  VIEWS,
} from '../long-use.ts';
import { controlsOf } from '../viewer.ts';
import { test } from './fixtures.ts';
import type { Visitor } from './visitor.ts';

const SUMMARY = '[aria-label=Summary]';
const CANCEL = { selector: '[data-testid=cancel]' };

async function show(visitor: Visitor, view: string): Promise<void> {
  for (const control of controlsOf(view)) await visitor.click(control);
  await visitor.idle();
  expect(await visitor.textOf('#view-picture [role=alert]')).toBe('');
}

async function openNext(visitor: Visitor, name: string): Promise<void> {
  await visitor.open(resolve('fixtures', name));
  await visitor.sees({ selector: 'header', text: name });
  await visitor.idle();
}

test(`${FILES} files and ${CANCELS} cancelled openings leave memory and snapshot as they were`, async ({
  visitor,
  engine,
  site,
}) => {
  test.setTimeout(LIMIT_MS);
  const slow = slowFile();
  await visitor.visit(site.url);
  await openNext(visitor, KEPT);
  const figures = await visitor.textOf(SUMMARY);
  const openFiles = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await openNext(visitor, inTurn(OTHERS, i));
      if (i % 3 === 0) await show(visitor, inTurn(VIEWS, i / 3));
    }
    await openNext(visitor, KEPT);
    expect(await visitor.textOf(SUMMARY)).toBe(figures);
  };
  const cancelOpenings = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await engine.upload(slow.path);
      await visitor.sees(CANCEL);
      // Early, and occasionally while its worker reads and hears nothing.
      if (i % 10 === 1) await visitor.sees({ selector: '[data-testid=progress]', text: 'Reading' });
      await visitor.click(CANCEL);
      await visitor.sees({ selector: 'header', text: KEPT });
      await show(visitor, inTurn(VIEWS, i));
      expect(await visitor.textOf(SUMMARY)).toBe(figures);
    }
  };
  await openFiles(Math.min(FILES, OTHERS.length));
  for (const view of VIEWS) await show(visitor, view);
  await cancelOpenings(1);
  const held = [engine.residentBytes()];
  await openFiles(FILES);
  held.push(engine.residentBytes());
  await cancelOpenings(CANCELS);
  const growth = () => {
    held[2] = engine.residentBytes();
    return held[2] / (held[0] ?? 0);
  };
  // Its collector cannot be asked from here; it comes by itself.
  await expect.poll(growth, { timeout: 60_000 }).toBeLessThan(MOST_GROWTH);
  slow.remove();
  const megabytes = held.map((bytes) => Math.round(bytes / 1e6));
  test.info().annotations.push({ type: 'MB held', description: megabytes.join(' → ') });
  expect(await visitor.faults()).toEqual([]);
});
