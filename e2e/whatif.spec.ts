/** Other allocator settings: what a fragmented run would have needed under them. */
import { expect, type Page, test } from '@playwright/test';
import { chooseFile, fixture, idle, openCapture } from './viewer.ts';

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

async function openWhatIf(page: Page, capture: string): Promise<void> {
  await openCapture(page, capture);
  await page.getByTestId('view-tabs').getByRole('button', { name: 'What if' }).click();
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

test('expandable segments would have saved the fragmented run, and less memory would not suffice', async ({
  page,
}) => {
  await openWhatIf(page, 'frag_gpt_varlen.pickle.gz');
  // It is cancelled while it runs, and continues from there.
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText(/^Cancelled: \d+ of 10 settings tried/)).toBeVisible();
  await page.getByRole('button', { name: 'Try the rest' }).click();
  await idle(page);
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await expect(rowOf(page, 'not tried yet')).toHaveCount(0);
  const rows = page.getByRole('table', { name: 'Settings' }).getByRole('row');
  await expect(rows.nth(1)).toContainText(/As recorded.*15\.86 GiB/);
  await expect(rows.nth(2)).toContainText(/expandable_segments:True.*5\.44 GiB.*−10\.41 GiB/);
  const chosen = page.getByRole('region', { name: 'Chosen setting' });
  await expect(chosen).toContainText(
    'expandable_segments:True would have needed 5.44 GiB instead of 15.86 GiB',
  );
  await chosen.getByRole('button', { name: /PYTORCH_ALLOC_CONF/ }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    'PYTORCH_ALLOC_CONF=expandable_segments:True',
  );
  // With less memory it says which request fails, and how much is missing.
  await page.getByRole('combobox', { name: 'Memory' }).selectOption('6 GiB GPU');
  await idle(page);
  await expect(page.getByText('None of the settings tried would have helped:')).toBeVisible();
  await rowOf(page, 'max_split_size_mb:512').getByRole('radio').check();
  await expect(page.getByRole('region', { name: 'Chosen setting' })).toContainText(
    /would have run out of memory under a limit of 5\.\d\d GiB at event [\d,]+: .* was requested, which takes a limit .* higher/,
  );
  await expect(page).toHaveURL(/limit=\d+/);
});

test('free text is parsed as PyTorch does: shows where a typo is, runs a valid setting', async ({
  page,
}) => {
  // An invalid setting in a link is shown with what is wrong.
  await page.goto('/#v=1&view=whatif&setting=max_split_size_mb:8');
  await chooseFile(page, fixture('train_gpt_small.pickle.gz'));
  await expect(page.getByText('max_split_size_mb must be at least 20, not 8')).toBeVisible();
  const text = page.getByRole('textbox', { name: /Settings to try/ });
  await text.fill('max_split_size_mb:256,expandable_segment:True');
  await expect(page.getByText("Unknown option 'expandable_segment'")).toContainText(
    'Did you mean expandable_segments? (character 23)',
  );
  await text.fill('max_split_size_mb:256');
  await text.press('Enter');
  await idle(page);
  const radio = rowOf(page, 'max_split_size_mb:256').getByRole('radio');
  await expect(radio).toBeChecked();
  await expect(page).toHaveURL(/setting=max_split_size_mb:256/);
  // A link shows the same: a setting outside the presets is run again.
  await radio.press('ArrowUp');
  await expect(radio).not.toBeChecked();
  await page.goBack();
  await expect(radio).toBeChecked();
});

test('findings quote the simulated peak of expandable segments, and lead here', async ({
  page,
}) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const findings = page.getByTestId('findings');
  await expect(findings).toContainText(
    "expandable_segments:True would have served the request that failed under this process's limit of at least 6.00 GiB, reserving 2.64 GiB",
  );
  await findings.getByRole('button', { name: 'Compare settings' }).first().click();
  await expect(page.getByRole('region', { name: 'Chosen setting' })).toContainText('2.64 GiB');
});
