import { expect, test } from '@playwright/test';
import { idle, openCapture, searchOf } from './viewer.ts';

test('a search counts while typing, selects match after match, and is in the link', async ({
  page,
}) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  await page.keyboard.press('/');
  const box = searchOf(page);
  await expect(box).toBeFocused();
  await page.keyboard.type('lm_loss size>60MiB');
  await expect(page.getByRole('search')).toContainText('12 · 62.50 MiB at the cursor');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('search')).toContainText('1 of 12');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('search')).toContainText('2 of 12');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Shift+Enter');
  await expect(page.getByRole('search')).toContainText('12 of 12');
  await expect(page.getByText('62.50 MiB').first()).toBeVisible();
  await page.getByRole('button', { name: 'Only matches' }).click();
  const link = page.url();
  expect(decodeURIComponent(link)).toMatch(/select=b[0-9a-f]+_\d+/);

  await page.getByRole('button', { name: 'Clear the search' }).click();
  await expect(box).toHaveValue('');
  await page.goBack();
  await expect(box).toHaveValue('lm_loss size>60MiB');
  await expect.poll(() => page.url()).toBe(link);
  await box.focus();
  await page.keyboard.press('Escape');
  await expect(box).toHaveValue('');
  await page.keyboard.press('Escape');
  await expect(box).not.toBeFocused();

  await test.step('allocations are sorted, selected, and shown in the timeline', async () => {
    await page.getByRole('button', { name: 'Allocations' }).click();
    const table = page.getByRole('grid', { name: 'Allocations' });
    await expect(page.getByText('3,852 allocations')).toBeVisible();
    await expect(table.getByRole('row').nth(1)).toContainText('62.50 MiB');
    await table.getByRole('button', { name: 'Start' }).click();
    await expect(table.getByRole('columnheader', { name: 'Start' })).toHaveAttribute(
      'aria-sort',
      'ascending',
    );
    await expect(page).toHaveURL(/sort=start/);
    // In the new order the selected row is shown again, which would undo a key pressed before.
    await idle(page);

    await table.focus();
    await page.keyboard.press('End');
    // A row can be selected once it is read.
    await expect(table.locator('[aria-rowindex="3853"]')).toContainText(/b[0-9a-f]+_\d+/);
    await page.keyboard.press('Space');
    const last = table.getByRole('row', { selected: true });
    await expect(last).toHaveAttribute('aria-rowindex', '3853');
    const label = await last.getByText(/^b[0-9a-f]+_\d+$/).textContent();
    await expect(page.getByTestId('details')).toContainText(String(label));
    await page.keyboard.press('Enter');
    await expect(page.getByTestId('timeline')).toBeVisible();

    // What is selected elsewhere is visible after coming back.
    await page.goBack();
    await idle(page);
    await expect(last).toBeInViewport();
  });
});

test('a search completes terms, and says in place what is wrong with one', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  const box = searchOf(page);
  await box.focus();
  const options = page.getByRole('option');
  await expect(options.filter({ hasText: 'size>' })).toBeVisible();
  await box.pressSequentially('sta');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await expect(box).toHaveValue('state:');
  await options.filter({ hasText: 'state:live' }).click();
  await expect(box).toHaveValue('state:live ');
  await box.pressSequentially('-phase:for');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(box).toHaveValue('state:live -phase:"## forward ##" ');
  await expect(box).toHaveAttribute('aria-invalid', 'false');

  await box.fill('forward /a(b/');
  await expect(page.getByText('missing closing )')).toBeVisible();
  await expect(page.getByRole('search').locator('mark')).toHaveText('(');
  await expect(box).toHaveAttribute('aria-invalid', 'true');
  // Linear time for any pattern: this one would keep the browser's own expressions busy for years.
  await box.fill('/(([a-z]+)+)+!/');
  await expect(page.getByRole('search')).toContainText('no match');
});

test('allocations by site: Enter lists all of one, and an empty result says why', async ({
  page,
}) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  await page.getByRole('button', { name: 'Allocations' }).click();
  await page.getByRole('button', { name: 'By call site' }).click();
  const sites = page.getByRole('grid', { name: 'Call sites' });
  await expect(page.getByText('2 call sites')).toBeVisible();
  await expect(sites.getByRole('row').nth(1)).toContainText('scenarios.py:322');
  await sites.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByText('1,745 of 2,035 allocations')).toBeVisible();
  await expect(searchOf(page)).toHaveValue(/^site:b[0-9a-f]+_\d+$/);

  await searchOf(page).fill('stream:7');
  const empty = page.getByRole('region', { name: 'Allocations' });
  await expect(empty).toContainText('There is no stream 7, only 0.');
  await empty.getByRole('button', { name: 'Clear the search' }).click();
  await expect(page.getByText('2,035 allocations')).toBeVisible();
});
