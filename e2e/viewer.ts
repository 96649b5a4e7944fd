/** What a person does with the page, in terms of what a person sees. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, type Locator, type Page } from '@playwright/test';

export const fixture = (name: string): string => `fixtures/${name}`;

/** The bytes of a gzipped fixture, as a file of another name: most are kept gzipped. */
export function unzipped(name: string, as = 'snapshot.pickle') {
  const buffer = gunzipSync(readFileSync(fixture(name)));
  return { name: as, mimeType: 'application/octet-stream', buffer };
}

/** Takes a minute to read: a pickle that pushes None onto its stack and pops it, some two billion times. */
export function longFile() {
  const [start, rest] = [Buffer.from([0x80, 4]), Buffer.alloc(2 ** 24, 'N0')].map((part) =>
    gzipSync(part),
  );
  const parts = Array.from({ length: 256 }, () => rest ?? Buffer.of());
  const buffer = Buffer.concat([start ?? Buffer.of(), ...parts]);
  return { name: 'long.pickle.gz', mimeType: 'application/gzip', buffer };
}

export async function idle(page: Page): Promise<void> {
  await page.evaluate(() => window.vramscope?.whenIdle());
}

export async function chooseFile(
  page: Page,
  file: string | { name: string; mimeType: string; buffer: Buffer },
): Promise<void> {
  await page.getByTestId('file-input').first().setInputFiles(file);
}

/** As a file manager does it: with the browser's own drag events, which can contain folders. */
export async function dropPaths(page: Page, ...paths: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths.map((path) => resolve(path)), dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
  }
}

/** Opens a capture and waits until it is drawn. */
export async function openCapture(page: Page, name: string): Promise<void> {
  await page.goto('/');
  await chooseFile(page, fixture(name));
  await expect(page.getByTestId('timeline')).toBeVisible();
  await idle(page);
}

/** The plot of all allocations. */
export const plotOf = (page: Page): Locator => page.getByTestId('timeline');

/** The row of figures above the views. */
export const summaryOf = (page: Page): Locator => page.getByRole('region', { name: 'Summary' });

/** The views' tabs. */
export const tabsOf = (page: Page): Locator => page.getByTestId('view-tabs').getByRole('button');

/** The views that share the tab "Allocator". */
const MODES: readonly string[] = ['Addresses', 'Segments', 'State'];
/** Every view, in the order of their keys. */
export const VIEWS: readonly string[] = [
  'Timeline',
  ...MODES,
  'Flame',
  'Events',
  'Allocations',
  'Summary',
  'What if',
];

/** What to click for a view: its tab, then perhaps its mode of that tab. */
export function controlsOf(view: string): readonly { selector: string; text: string }[] {
  const isMode = MODES.includes(view);
  return [
    { selector: '[data-testid=view-tabs] button', text: isMode ? 'Allocator' : view },
    ...(isMode ? [{ selector: '[aria-label="Allocator view"] button', text: view }] : []),
  ];
}

/** Its tab and its mode say that it is the one shown. */
export async function expectShown(page: Page, view: string): Promise<void> {
  const [tab, mode] = controlsOf(view).map(({ selector, text }) =>
    page.locator(selector, { hasText: text }),
  );
  if (tab) await expect(tab).toHaveAttribute('aria-current', 'page');
  if (mode) await expect(mode).toHaveAttribute('aria-pressed', 'true');
}

export async function showView(page: Page, view: string): Promise<void> {
  for (const { selector, text } of controlsOf(view))
    await page.locator(selector, { hasText: text }).click();
  await expectShown(page, view);
}

export const searchOf = (page: Page): Locator => page.getByTestId('search');

/** What the colors mean. */
export const legendOf = (page: Page): Locator => page.getByRole('region', { name: 'Colors' });

/** The bar that says at which event the cursor is. */
export const cursorOf = (page: Page): Locator => page.getByRole('region', { name: 'Cursor' });

/** Page position at a share of the plot, from its left and bottom. */
export async function pointAt(page: Page, fromLeft: number, fromBottom: number) {
  const box = await plotOf(page).boundingBox();
  if (box === null) throw new Error('The plot is not on the page');
  return { x: box.x + box.width * fromLeft, y: box.y + box.height * (1 - fromBottom) };
}

/** Waits until only the open file has a worker: the analysis, which has a copy of it, ends soon after its last result. */
export async function onlyTheFile(page: Page): Promise<void> {
  const names = () => Promise.all(page.workers().map((one) => one.evaluate(() => self.name)));
  await expect.poll(() => names().catch(() => [])).toEqual(['session']);
}

/** The stack of all blocks, without what is drawn over it. */
export const pictureOf = (page: Page): Promise<string> =>
  plotOf(page)
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

declare global {
  interface Window {
    vramscope?: { whenIdle(): Promise<void>; marks(): Record<string, number> };
  }
}
