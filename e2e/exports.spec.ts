/** Exports: pictures that show what the page shows, and data that begins as it should. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Download, expect, type Page, test } from '@playwright/test';
import { sampleSnapshot, writePickle } from '../src/testing/write-pickle.ts';
import { chooseFile, idle, openCapture, showView } from './viewer.ts';

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Export' });

async function saved(page: Page, button: string): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialogOf(page).getByRole('button', { name: button, exact: true }).click(),
  ]);
  return download;
}

const VIEWS = [
  {
    view: 'Timeline',
    name: 'timeline',
    says: [/scenarios\.py/, /Reserved/, /6 GiB/, /2,000/],
    colorScheme: 'light',
  },
  { view: 'Addresses', name: 'address-map', says: [/2,000/, /GiB/], colorScheme: 'dark' },
  {
    view: 'Flame',
    name: 'flame-graph',
    says: [/_fragment/, /Live at the peak/],
    colorScheme: 'light',
  },
  { view: 'State', name: 'allocator-state', says: [/Large pool/, /GiB/], colorScheme: 'dark' },
] as const;

test('PNG and SVG of four views, two in the dark theme', async ({ page, context }, testInfo) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const viewer = await context.newPage();
  for (const { view, name, says, colorScheme } of VIEWS) {
    // Behind another tab a page gets one frame per second, and a picture waits for one per canvas.
    await page.bringToFront();
    await showView(page, view);
    await page.emulateMedia({ colorScheme });
    await idle(page);
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const [svg, png] = [await saved(page, `${view} as SVG`), await saved(page, `${view} as PNG`)];
    await dialogOf(page).getByRole('button', { name: 'Close' }).click();
    expect(png.suggestedFilename()).toBe(`oom_fragmented-${name}.png`);
    const path = testInfo.outputPath(svg.suggestedFilename());
    await svg.saveAs(path);
    await expectSvg(viewer, path, `${view} · oom_fragmented.pickle.gz · cuda:0`, says);
    await expectPng(page, readFileSync(await png.path()));
  }
});

async function expectSvg(
  page: Page,
  path: string,
  title: string,
  says: readonly RegExp[],
): Promise<void> {
  await page.goto(pathToFileURL(path).href);
  const words = (await page.locator('svg').first().textContent()) ?? '';
  for (const text of [title, ...says]) expect(words).toMatch(text);
  const canvases = page.locator('img');
  expect(await canvases.count()).toBeGreaterThan(0);
  const widths = await canvases.evaluateAll((all) =>
    all.map((one) => (one instanceof HTMLImageElement ? one.naturalWidth : 0)),
  );
  expect(Math.min(...widths)).toBeGreaterThan(0);
}

/** It can be decoded, has twice the page's resolution, and shows more than a few colors. */
async function expectPng(page: Page, bytes: Buffer): Promise<void> {
  const picture = await page.evaluate(async (base64) => {
    const file = new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]);
    const bitmap = await createImageBitmap(file);
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context?.drawImage(bitmap, 0, 0);
    const pixels = context?.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer;
    const colors = new Set(new Uint32Array(pixels ?? new ArrayBuffer(0))).size;
    return { width: bitmap.width, colors };
  }, bytes.toString('base64'));
  expect(picture.width).toBeGreaterThan(1400);
  expect(picture.colors).toBeGreaterThan(100);
}

const DATA: readonly { readonly button: string; readonly begins: RegExp }[] = [
  { button: 'Counters, CSV', begins: /^event,/ },
  { button: 'Allocations, CSV', begins: /^[a-z_]+,/ },
  { button: 'Allocations, Arrow', begins: /^ARROW1/ },
  { button: 'Events, CSV', begins: /^event,action,time_us,/ },
  { button: 'Events, Arrow', begins: /^ARROW1/ },
  { button: 'Trace for Perfetto', begins: /^\{.*"traceEvents":\s*\[/s },
  { button: 'Folded stacks', begins: /^(.+ \d+\n)+.+;.+ \d+\n/ },
  { button: 'speedscope', begins: /speedscope\.app\/file-format-schema\.json/ },
];

test('each kind of data begins as its readers expect', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  for (const { button, begins } of DATA) {
    const download = await saved(page, button);
    const text = readFileSync(await download.path(), 'latin1');
    expect(text.slice(0, 400), button).toMatch(begins);
    await expect(dialogOf(page).getByText('saved to your downloads')).toContainText(
      download.suggestedFilename(),
    );
  }
});

test('a trace without events is exported correctly', async ({ page }) => {
  const sample = { ...sampleSnapshot(), device_traces: [[]] };
  await page.goto('/');
  const buffer = Buffer.from(writePickle(sample));
  await chooseFile(page, { name: 'made.pickle', mimeType: '', buffer });
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expect(dialogOf(page).getByRole('button', { name: 'Trace for Perfetto' })).toBeDisabled();
  const download = await saved(page, 'Events, CSV');
  expect(
    readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n'),
  ).toHaveLength(1);
});
