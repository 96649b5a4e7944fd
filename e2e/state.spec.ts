import { expect, type Page, test } from '@playwright/test';
import { cursorOf, idle, openCapture, showView } from './viewer.ts';

const stateOf = (page: Page) => page.getByRole('region', { name: 'Allocator state' });
const segmentsOf = (page: Page) => page.getByRole('treegrid', { name: 'Segments' });

async function openState(page: Page, capture: string): Promise<void> {
  await openCapture(page, capture);
  await showView(page, 'State');
  await expect(segmentsOf(page)).toBeVisible();
  await idle(page);
}

test('at the OOM: free memory and its pieces, that empty_cache() would not help, and each block', async ({
  page,
}) => {
  await openState(page, 'oom_fragmented.pickle.gz');
  await expect(cursorOf(page)).toContainText('Event 6,195');
  await expect(cursorOf(page)).toContainText('Allocated 2.05 GiB');
  await expect(cursorOf(page)).toContainText('Reserved 5.80 GiB');
  const state = stateOf(page);
  await expect(state).toContainText('379.75 MiB was requested');
  await expect(state).toContainText('in ranges of at most 354.66 MiB');
  await expect(state).toContainText('empty_cache() would release nothing');
  await expect(segmentsOf(page).getByRole('row', { name: /Large pool/ })).toContainText('5.80 GiB');
  await expect(segmentsOf(page).getByRole('row', { name: /7f62a0000000/ })).toContainText('99%');
  await expect(page).toHaveURL(/view=allocator-state/);
  // The moment at which a file opens is not in its link; any other moment is.
  await expect(page).not.toHaveURL(/at=/);
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(/at=6194/);
  await page.keyboard.press('o');
  await idle(page);

  await test.step('selects blocks by keys, and folds pools', async () => {
    await page.keyboard.press('p');
    await idle(page);
    await segmentsOf(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const label = page.getByTestId('details').getByText(/^b7[0-9a-f]+_\d+$/);
    await expect(page).toHaveURL(/select=b7/);
    const first = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('select') ?? '';
    await expect(label).toHaveText(first);
    await page.keyboard.press('Shift+ArrowDown');
    await expect(label).not.toHaveText(first);
    await page.keyboard.press('Shift+ArrowUp');
    await expect(label).toHaveText(first);
    const active = (await segmentsOf(page).getAttribute('aria-activedescendant')) ?? '';
    await page.keyboard.press('PageDown');
    await expect(segmentsOf(page)).not.toHaveAttribute('aria-activedescendant', active);
    await page.keyboard.press('Control+ArrowUp');
    await expect(label).toHaveText(first);
    const pool = segmentsOf(page).getByRole('row', { name: /Large pool/ });
    await expect(pool).toHaveAttribute('aria-expanded', 'true');
    await pool.click();
    await expect(pool).toHaveAttribute('aria-expanded', 'false');
    await expect(segmentsOf(page).getByRole('row', { name: /MiB/ })).toHaveCount(1);
    await page.keyboard.press('Escape');
    await expect(page).not.toHaveURL(/select=/);
  });

  await test.step('names the block under the pointer, and selects it with a click', async () => {
    await segmentsOf(page)
      .getByRole('row', { name: /Large pool/ })
      .click();
    const row = segmentsOf(page).getByRole('row', { name: /7f62a0000000/ });
    await row.locator('canvas').hover({ position: { x: 20, y: 8 } });
    const tooltip = page.getByRole('tooltip');
    await expect(tooltip).toContainText('scenarios.py');
    await row.locator('canvas').click({ position: { x: 20, y: 8 } });
    await expect(page).toHaveURL(/select=b7f62a0000000_/);
    await expect(page.getByTestId('details')).toContainText('b7f62a0000000_');
    await page.keyboard.press('Escape');
    await expect(page).not.toHaveURL(/select=/);
  });
});

test('arrows step through the events; Back leads back', async ({ page }) => {
  await openState(page, 'streams_record_stream.pickle.gz');
  await page.keyboard.press('Home');
  await expect(cursorOf(page)).toContainText('Event 0of 758');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(cursorOf(page)).toContainText('Event 101of 758');
  await expect(
    segmentsOf(page)
      .getByRole('row', { name: /stream 0x/ })
      .first(),
  ).toBeVisible();
  await expect(stateOf(page)).toContainText(
    'it would first wait for streams that still use freed blocks',
  );
  await expect(page).toHaveURL(/at=101/);
  await page.goBack();
  await expect(cursorOf(page)).not.toContainText('Event 101of 758');
  await page.keyboard.press('End');
  await expect(cursorOf(page)).toContainText('Event 757of 758');
});

test('measures between two cursors', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  await cursorOf(page).getByRole('button', { name: 'Jump to' }).click();
  await page.getByRole('button', { name: 'First event' }).click();
  await cursorOf(page).getByRole('button', { name: 'Measure from here' }).click();
  await page.keyboard.press('>');
  const difference = page.getByRole('region', { name: 'From the second cursor to the cursor' });
  await expect(difference).toContainText('From event 0');
  await expect(difference).toContainText('+100 events');
  await expect(difference).toContainText(/Reserved\s*\+\d/);
  await page.keyboard.press('Shift+M');
  await expect(difference).toHaveCount(0);
});
