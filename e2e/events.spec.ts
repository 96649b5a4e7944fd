import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { cursorOf, idle, openCapture, searchOf } from './viewer.ts';

async function openEvents(page: Page, capture: string): Promise<void> {
  await openCapture(page, capture);
  await page.getByTestId('view-tabs').getByRole('button', { name: 'Events' }).click();
  await expect(tableOf(page)).toBeVisible();
  await idle(page);
}

const viewOf = (page: Page) => page.getByRole('region', { name: 'Events' });
const tableOf = (page: Page) => page.getByRole('grid', { name: 'Events' });
const rowOf = (page: Page, event: number) =>
  tableOf(page).locator(`[aria-rowindex="${event + 2}"]`);
const detailsOf = (page: Page) => page.getByRole('region', { name: 'Event', exact: true });

test('goes to an event by number and to its counterpart, and follows the cursor', async ({
  page,
}) => {
  await openEvents(page, 'oom_fragmented.pickle.gz');
  await expect(viewOf(page).getByText('6,302 events')).toBeVisible();
  // From another event: the file opens at its OOM.
  await page.keyboard.press('e');
  await expect(page).toHaveURL(/at=6301/);
  await page.keyboard.press('g');
  await page.keyboard.type('6195');
  await page.keyboard.press('Enter');
  const oom = rowOf(page, 6195);
  await expect(oom).toContainText('oom');
  await expect(oom).toContainText('379.75 MiB');
  await expect(oom).toHaveAttribute('aria-current', 'true');
  await expect(detailsOf(page)).toContainText('398,194,176 bytes');
  await expect(cursorOf(page)).toContainText('Event 6,195');
  // Goes to the alloc before it, and then to its free, by keyboard alone.
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await expect(rowOf(page, 6194)).toHaveAttribute('aria-current', 'true');
  await expect(rowOf(page, 6194)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('l');
  await expect(rowOf(page, 6196)).toHaveAttribute('aria-current', 'true');
  await expect(rowOf(page, 6196)).toContainText('free_requested');
  await page.goBack();
  await expect(rowOf(page, 6194)).toHaveAttribute('aria-current', 'true');
  await page.keyboard.press('o');
  await expect(rowOf(page, 6195)).toBeVisible();
  await tableOf(page).focus();
  await page.keyboard.press('End');
  await expect(rowOf(page, 6301)).toBeVisible();
  await page.keyboard.press('c');
  await expect(rowOf(page, 6195)).toBeVisible();
});

test('lists what is requested, saves it, and keeps a row visible', async ({ page }) => {
  await openEvents(page, 'oom_fragmented.pickle.gz');

  await test.step('filters by action, size and search, and says how many are left', async () => {
    await page.getByRole('button', { name: /^segment_alloc/ }).click();
    await expect(viewOf(page).getByText('109 of 6,302 events')).toBeVisible();
    await page.getByLabel('Smallest size').fill('300MiB');
    await expect(viewOf(page).getByText(/^\d of 6,302 events|^\d\d of 6,302 events/)).toBeVisible();
    await page.getByLabel('Smallest size').fill('much');
    await expect(page.getByLabel('Smallest size')).toHaveAttribute('aria-invalid', 'true');
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await expect(viewOf(page).getByText('6,302 events', { exact: true })).toBeVisible();
    await searchOf(page).fill('size>1TiB');
    await page.keyboard.press('Enter');
    await expect(viewOf(page).getByText('No event matches')).toBeVisible();
    await viewOf(page).getByRole('button', { name: 'Clear the search' }).click();
    await expect(viewOf(page).getByText('6,302 events', { exact: true })).toBeVisible();
  });

  await test.step('keeps the clicked row visible when its details open below', async () => {
    // Until then the table's height may change.
    await idle(page);
    const lowest = tableOf(page).getByRole('row').nth(-2);
    const event = Number(await lowest.getAttribute('aria-rowindex')) - 2;
    await rowOf(page, event).click({ position: { x: 20, y: 5 } });
    await expect(detailsOf(page)).toContainText(`event ${event.toLocaleString('en-US')}`);
    await expect(rowOf(page, event)).toHaveAttribute('aria-current', 'true');
    await expect(rowOf(page, event).getByRole('gridcell').first()).toBeInViewport({ ratio: 1 });
  });

  await test.step('saves what is listed as CSV', async () => {
    await page.getByRole('button', { name: /^oom/ }).click();
    await expect(viewOf(page).getByText('1 of 6,302 events')).toBeVisible();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^event,action,time_us,/);
    expect(lines[1]).toMatch(/^6195,oom,\d+,,398194176,0,/);
  });
});
