/** Two files on the page: why one needs more than the other. */
import { expect, type Page, test } from '@playwright/test';
import { chooseFile, fixture, idle, longFile, openCapture } from './viewer.ts';

const BASE = fixture('pairs/compare/base.pickle.gz');
const BATCH = fixture('pairs/compare/batch2.pickle.gz');

const verdictOf = (page: Page) => page.getByRole('status', { name: 'Verdict' });
const tableOf = (page: Page) => page.getByRole('grid', { name: 'Differences' });
const rowsOf = (page: Page) => tableOf(page).getByRole('row');
const tab = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function givePair(page: Page, files: readonly string[]): Promise<void> {
  await page
    .getByTestId('file-input')
    .first()
    .setInputFiles([...files]);
  await expect(verdictOf(page)).toBeVisible();
  await idle(page);
}

/** The colors of the stack in the middle of a plot's pixels. */
const colorsOf = (page: Page, side: 'a' | 'b') =>
  page
    .getByTestId(`timeline-${side}`)
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => {
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
      const colors = new Set<number>();
      for (let at = 0; at < (pixels?.length ?? 0); at += 4) {
        const [red = 0, green = 0, blue = 0] = pixels?.slice(at, at + 3) ?? [];
        colors.add(red * 65536 + green * 256 + blue);
      }
      return [...colors].sort().join();
    });

test('compares two files: reads the table, follows a row into both timelines, restores the link', async ({
  page,
}) => {
  await page.goto('/');
  await givePair(page, [BASE, BATCH]);
  await expect(verdictOf(page)).toContainText('Peak +838.41 MiB (+65%)');
  await expect(verdictOf(page)).toContainText('the batch or the sequence doubled');

  // The table lists everything that differs, which adds up to the difference.
  await expect(page.getByText('together +838.41 MiB')).toBeVisible();
  await expect(rowsOf(page).nth(1)).toContainText('scenarios.py:48');
  await expect(rowsOf(page).nth(1)).toContainText('larger');
  await expect(rowsOf(page).nth(1)).toContainText('+128.00 MiB');
  await page.getByLabel('Class').selectOption('rounding');
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(rowsOf(page).nth(1)).toContainText('+2.62 MiB');
  await page.getByLabel('Class').selectOption('');
  await page.getByLabel('Filter by file or function').fill('functional.py');
  await expect(rowsOf(page).nth(1)).toContainText('functional.py');
  await page.getByLabel('Filter by file or function').fill('');

  // A row can be followed into both timelines, and into both files' allocations.
  const [plainA, plainB] = [await colorsOf(page, 'a'), await colorsOf(page, 'b')];
  await rowsOf(page).nth(1).click();
  await expect(page.getByRole('status', { name: 'Row that is followed' })).toContainText(
    'scenarios.py:48',
  );
  await expect.poll(() => colorsOf(page, 'a')).not.toBe(plainA);
  await expect.poll(() => colorsOf(page, 'b')).not.toBe(plainB);
  for (const [letter, size] of [
    ['A', '16.00 MiB'],
    ['B', '32.00 MiB'],
  ] as const) {
    await tab(page, `In ${letter}`).click();
    const rows = page.getByRole('grid', { name: 'Allocations' }).getByRole('row');
    await expect(rows.nth(1)).toContainText(size);
    await expect(rows.nth(1)).toContainText('scenarios.py:48');
  }

  // A window in one timeline is the same window in the other, and in the link.
  await page.getByTestId('timeline-a').focus();
  await page.keyboard.press('+');
  await expect(page).toHaveURL(/x%3D/);
  await tab(page, 'Side by side').click();
  await expect(page.getByRole('row', { name: /^optimizer state/ }).first()).toBeVisible();
  await tab(page, 'Flame graph').click();
  await expect(page.getByText('+835.78 MiB without rounding.')).toBeVisible();
  await expect(page).toHaveURL(/tab%3Dflame/);
  await idle(page);
  // Its stacks are transformed as in one file's flame graph.
  const transforms = page.getByRole('navigation', { name: 'Transforms' });
  const undo = transforms.getByRole('button', { name: /^Undo: / });
  const graph = page.getByRole('application', { name: 'Flame graph' });
  await graph.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: /^Merge / }).click();
  await expect(undo).toHaveCount(1);
  await expect(page.getByText('+835.78 MiB without rounding.')).toBeVisible();
  await page.goBack();
  await expect(undo).toHaveCount(0);
  await page.goForward();
  await expect(undo).toHaveCount(1);
  await idle(page);
  const link = page.url();

  // The link, with both files given again in the other order.
  await page.goto('about:blank');
  await page.goto(link);
  await givePair(page, [BATCH, BASE]);
  await expect(verdictOf(page)).toContainText('Peak +838.41 MiB');
  await expect(tab(page, 'Flame graph')).toHaveAttribute('aria-current', 'page');
  await expect(page.getByRole('status', { name: 'Row that is followed' })).toContainText(
    'scenarios.py:48',
  );
  await expect(page.getByRole('button', { name: 'Show both whole' })).toBeEnabled();
  await undo.click();
  await expect(undo).toHaveCount(0);

  // Swapped, growth becomes shrinkage.
  await page.getByRole('button', { name: 'Swap A and B' }).click();
  await expect(verdictOf(page)).toContainText('Peak -838.41 MiB');
});

test('compares a second file with the open one; says so if it cannot be read', async ({ page }) => {
  await openCapture(page, 'pairs/compare/base.pickle.gz');
  await page.getByRole('button', { name: 'Compare with…' }).click();
  await expect(page.getByTestId('compare-waiting')).toContainText('base.pickle.gz');
  await chooseFile(page, { name: 'x.pickle', mimeType: '', buffer: Buffer.from('no pickle') });
  await expect(page.getByRole('heading', { name: 'x.pickle could not be opened' })).toBeVisible();
  await page.getByRole('button', { name: 'Show base.pickle.gz alone' }).click();
  await expect(page.getByTestId('compare-waiting')).toBeVisible();
  await chooseFile(page, fixture('no_history.pickle.gz'));
  await expect(verdictOf(page)).toContainText('B has no history');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByTestId('timeline')).toBeVisible();
});

test('cancels a slow second file, and opens another one', async ({ page }) => {
  await openCapture(page, 'pairs/compare/base.pickle.gz');
  await page.getByRole('button', { name: 'Compare with…' }).click();
  await chooseFile(page, longFile());
  await expect(page.getByTestId('progress')).toContainText('Opening long.pickle.gz');
  await page.getByTestId('cancel').click();
  await expect(page.getByTestId('compare-waiting')).toBeVisible();
  await chooseFile(page, BATCH);
  await expect(verdictOf(page)).toContainText('Peak +838.41 MiB');
});
