import { expect, type Page, test } from '@playwright/test';
import { idle, openCapture, plotOf, summaryOf } from './viewer.ts';

async function openSummary(page: Page, capture: string): Promise<void> {
  await openCapture(page, capture);
  await page.getByTestId('view-tabs').getByRole('button', { name: 'Summary' }).click();
  await expect(page.getByRole('region', { name: 'Memory', exact: true })).toBeVisible();
  await idle(page);
}

/** The row of a figure: its name, then current, peak, allocated and freed. */
const memoryRow = (page: Page, name: string) =>
  page
    .getByRole('region', { name: 'Memory', exact: true })
    .getByRole('row', { name: new RegExp(`^${name}`) });

test('shows the figures of memory_summary() at the peak, the end and the cursor', async ({
  page,
}) => {
  await openSummary(page, 'train_annotated.pickle.gz');
  await expect(memoryRow(page, 'Allocated memory')).toContainText('827.35 MiB');
  await expect(
    page.getByTestId('main-panel').getByRole('button', { name: 'At the cursor' }),
  ).toBeEnabled();
  await page.getByTestId('main-panel').getByRole('button', { name: 'At the end' }).click();
  await expect(memoryRow(page, 'Allocated memory')).toHaveText(/65\.00 MiB.*827\.35 MiB/);
  await page.keyboard.press('p');
  await page.getByTestId('main-panel').getByRole('button', { name: 'At the cursor' }).click();
  await expect(memoryRow(page, 'Reserved segments')).toContainText('44');

  await test.step('shows which phase peaks, and its peak in the timeline', async () => {
    const phases = page.getByRole('grid', { name: 'Annotations' });
    await expect(phases.getByRole('row').nth(1)).toContainText('## backward ##');
    await phases.getByText('## forward ##').click();
    await expect(plotOf(page)).toBeVisible();
    await expect(page).toHaveURL(/at=\d+/);
    await expect(page).toHaveURL(/x=\d+/);
    await page.goBack();
    await expect(phases).toBeVisible();
  });
});

test('marks the settings that are not PyTorch’s defaults', async ({ page }) => {
  await openSummary(page, 'whatif_expandable/train_gpt_small.pickle.gz');
  const settings = page.getByRole('region', { name: 'Allocator settings' });
  await expect(settings).toContainText('2 differ from the defaults');
  const row = settings.getByRole('row', { name: /^expandable_segments/ });
  await expect(row).toContainText('Truechanged');
  await expect(row).toContainText('False');
});

test('does not claim peaks and totals that a truncated trace hides', async ({ page }) => {
  await openSummary(page, 'train_ring_truncated.pickle.gz');
  await expect(page.getByRole('region', { name: 'Memory', exact: true })).toContainText(
    'The trace does not cover the start of the process',
  );
  await expect(memoryRow(page, 'Allocated memory')).toContainText('≥');
  await expect(page.getByRole('region', { name: 'Recording' })).toContainText('truncated');
  // The same in the header and in the verdict.
  await expect(summaryOf(page)).toContainText("Out of memorycan't tell");
  await expect(page.getByTestId('findings')).toContainText(
    "we can't tell whether memory ran out before",
  );
});
