/** A report: exported from the page, opened from disk, with the same figures. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { idle, openCapture, plotOf, summaryOf } from './viewer.ts';

async function exportReport(page: Page, path: string, notes: string): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.getByLabel('Notes').fill(notes);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export report' }).click(),
  ]);
  await download.saveAs(path);
  return pathToFileURL(path).href;
}

test('shows the same figures and the same view', async ({ page }, testInfo) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const figures = await summaryOf(page).textContent();
  await page.getByTestId('view-tabs').getByRole('button', { name: 'Flame' }).click();
  await idle(page);
  const href = await exportReport(page, testInfo.outputPath('report.html'), 'Look at <this>');
  await page.goto(href);
  await expect(page.getByRole('complementary', { name: 'Report' })).toContainText('Look at <this>');
  await idle(page);
  await expect.poll(() => summaryOf(page).textContent()).toBe(figures);
  await expect(
    page.getByTestId('view-tabs').getByRole('button', { name: 'Flame' }),
  ).toHaveAttribute('aria-current', 'page');
  await expect(page.getByRole('button', { name: 'Open…' })).toHaveCount(0);
});

test('holds the recorded code around the findings, unless its author leaves something out', async ({
  page,
}, testInfo) => {
  const code = page.getByRole('list', { name: 'Code at capture.py:338' });
  const verdict = page.getByRole('status', { name: 'Verdict' });
  const path = testInfo.outputPath('report.html');
  await openCapture(page, 'record/source.pkl.gz');
  await expect(code).toBeVisible();
  await page.goto(await exportReport(page, path, ''));
  await expect(code.getByRole('listitem').nth(2)).toContainText('features.append(');
  await verdict.getByRole('button', { name: 'Lines of capture.py:338' }).click();
  await expect(page.getByText('The report holds only lines around those')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByLabel('Shorten paths').check();
  await page.keyboard.press('Escape');
  await page.goto(await exportReport(page, path, ''));
  await expect(verdict).toContainText('capture.py:338');
  await idle(page);
  await expect(code).toHaveCount(0);
});

test('a damaged report, or one from a newer version, says so', async ({ page }, testInfo) => {
  await openCapture(page, 'cuda_graph_pool.pickle.gz');
  const path = testInfo.outputPath('report.html');
  await exportReport(page, path, '');
  const html = readFileSync(path, 'utf8');
  const open = async (text: string) => {
    writeFileSync(path, text);
    await page.goto('about:blank');
    await page.goto(pathToFileURL(path).href);
  };
  await open(html.replace('{"format":1,', '{"format":2,'));
  await expect(page.getByText('made by a newer vramscope')).toBeVisible();
  await open(html.replace(/"base64":"[^"]{200}/, '"base64":"'));
  await expect(page.getByTestId('error')).toBeVisible();
  await expect(plotOf(page)).toHaveCount(0);
});
