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

test('says where a server’s memory is: by part, by pool, at any moment', async ({ page }) => {
  await openSummary(page, 'serving/vllm_like.pickle.gz');
  const serving = page.getByRole('region', { name: 'Serving', exact: true });
  await serving.getByRole('button', { name: 'At the end' }).click();
  const parts = serving.getByRole('table', { name: 'Reserved memory by part' });
  // As the server itself counted them: fixtures/serving/vllm_like.truth.json.
  await expect(parts.getByRole('row', { name: /^weights/ })).toContainText('256.03 MiB');
  await expect(parts.getByRole('row', { name: /^KV cache/ })).toContainText('1.50 GiB');
  await expect(parts.getByRole('row', { name: /^reserved/ })).toContainText('1.95 GiB');
  const pools = serving.getByRole('table', { name: 'Private pools' });
  await expect(pools.getByRole('row')).toHaveCount(6);
  await expect(pools.getByRole('row', { name: /^\(0, 3\) CUDA graph/ })).toContainText(
    /26\.00 MiB.*1\.64 MiB.*24\.36 MiB.*19\.00 MiB/,
  );
  await expect(serving).toContainText('The largest batch held 152.00 MiB');

  await pools.getByRole('button', { name: '(0, 3) CUDA graph' }).click();
  await expect(page.getByRole('combobox', { name: 'Search' })).toHaveValue('pool:"(0, 3)"');
});

test('says that an allocator’s pools can sleep, and calls it no fault', async ({ page }) => {
  await openSummary(page, 'serving/sglang_like.pickle.gz');
  const serving = page.getByRole('region', { name: 'Serving', exact: true });
  await expect(serving).toContainText('torch_memory_saver manages memory here');
  await expect(page.getByTestId('findings')).toContainText('no problem found');
});

test('shows nothing of it for a program that trains', async ({ page }) => {
  await openSummary(page, 'train_gpt_small.pickle.gz');
  await expect(page.getByRole('region', { name: 'Serving', exact: true })).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Private pools' })).toHaveCount(0);
});
