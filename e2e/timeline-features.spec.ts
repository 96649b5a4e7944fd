import { expect, type Page, test } from '@playwright/test';
import { legendOf, openCapture, pointAt } from './viewer.ts';

const colorBy = (page: Page) => page.getByLabel('Color by');

test('colours by phase and filters by a click on the legend, and back', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  await colorBy(page).selectOption('phase');
  const forward = legendOf(page).getByRole('button', { name: /## forward ##/ });
  await expect(forward).toContainText('424.02 MiB');
  await forward.click();
  await expect(forward).toHaveAttribute('aria-pressed', 'true');
  await expect(page).toHaveURL(/search=phase/);
  await forward.press('Enter');
  await expect(forward).toHaveAttribute('aria-pressed', 'false');
  await expect(page).not.toHaveURL(/search=/);
});

test('says why a colouring would tell nothing apart', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const options = colorBy(page).locator('option:disabled');
  await expect(options).toHaveText([
    'stream (one stream only)',
    'category (none recorded)',
    'compiled region (nothing was compiled)',
  ]);
});

test('stacks the matches alone, and fits to them', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  const axis = page.locator('.y-axis');
  await expect(axis).toContainText('768 MiB');
  await page.evaluate(() => {
    window.location.hash = '#v=1&search=size%3E%3D16MiB&only=matches';
  });
  await expect(axis).not.toContainText('640 MiB');
  await expect(axis).toContainText('512 MiB');
});

test('sets a second cursor with Alt and a click, and measures from it', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  const [from, to] = [await pointAt(page, 0.2, 0.1), await pointAt(page, 0.4, 0.1)];
  await page.mouse.click(from.x, from.y);
  await page.keyboard.down('Alt');
  await page.mouse.click(to.x, to.y);
  await page.keyboard.up('Alt');
  await expect(page).toHaveURL(/mark=\d+/);
  await expect(page.getByText(/^From event/)).toBeVisible();
});

test('goes through the annotations by keys', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  const lanes = page.getByRole('application', { name: /Annotations|## / });
  await lanes.focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('application', { name: /^## step 0 ##/ })).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('application', { name: /^## forward ##/ })).toBeVisible();
  await expect(page.getByTestId('tooltip')).toContainText('## forward ##');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/x=\d+/);
});
