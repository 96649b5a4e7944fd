/** Files dropped on an open one: the page asks what they are for, and changes nothing if nothing is chosen. */
import { expect, type Locator, type Page, test } from '@playwright/test';
import { chooseFile, dropPaths, fixture, idle, openCapture, plotOf, tabsOf } from './viewer.ts';

const OPEN = 'pairs/gpt_train.python';
const LEAK = fixture('pairs/eval_without_no_grad.python.pickle.gz');
const OTHER = fixture('pairs/resnet.python.pickle.gz');

const askedOf = (page: Page): Locator => page.getByRole('dialog', { name: /^What should/ });
const fileOf = (page: Page): Locator => page.locator('.file-name');

test.beforeEach(async ({ page }) => {
  await openCapture(page, `${OPEN}.pickle.gz`);
});

test('one file: Esc and Cancel keep the open one, keys choose: compare, second rank, or replace', async ({
  page,
}) => {
  await dropPaths(page, LEAK);
  const asked = askedOf(page);
  await expect(asked).toContainText('gpt_train.python.pickle.gz is open.');
  await page.keyboard.press('Escape');
  await expect(asked).toBeHidden();
  await dropPaths(page, LEAK);
  await asked.getByRole('button', { name: 'Cancel' }).click();
  await expect(asked).toBeHidden();
  await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');
  await expect(plotOf(page)).toBeVisible();

  // The first choice has the focus: compare.
  await dropPaths(page, LEAK);
  await expect(asked.getByRole('button', { name: /^Compare with gpt_train/ })).toBeFocused();
  await page.keyboard.press('Enter');
  const compared = page.getByTestId('compare');
  await expect(compared.getByRole('status', { name: 'Verdict' })).toBeVisible();
  await idle(page);
  await compared.getByRole('button', { name: 'Close' }).click();
  await expect(compared).toBeHidden();
  await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');

  await test.step('it replaces the open one, or becomes its second rank', async () => {
    await dropPaths(page, LEAK);
    await askedOf(page).getByRole('button', { name: 'Show both as ranks' }).click();
    const ranks = page.getByRole('main', { name: 'Ranks' });
    await expect(ranks.getByRole('status', { name: 'Verdict' })).toContainText(
      'Rank 0 holds 540.42 MiB (90%) more than rank 1 at its peak, 435.24 MiB of it activations.',
    );
    await expect(ranks).toContainText('rank 0 is eval_without_no_grad.python.pickle.gz');
    await ranks.getByRole('button', { name: 'Close the ranks' }).click();
    await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');
    await dropPaths(page, LEAK);
    await askedOf(page).getByRole('button', { name: 'Replace with eval_without' }).click();
    await expect(fileOf(page)).toHaveText('eval_without_no_grad.python.pickle.gz');
  });

  await test.step('and back: the file is opened again, as it was shown', async () => {
    await tabsOf(page).filter({ hasText: 'Allocations' }).click();
    const back = page.getByRole('button', { name: 'Back to gpt_train.python.pickle.gz' });
    await back.focus();
    await page.keyboard.press('Enter');
    await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');
    await idle(page);
    await expect(plotOf(page)).toBeVisible();
    await page.getByRole('button', { name: 'Back to eval_without' }).click();
    await expect(fileOf(page)).toHaveText('eval_without_no_grad.python.pickle.gz');
    await expect(page.getByRole('grid', { name: 'Allocations' })).toBeVisible();
  });
});

test('Back and Forward lead from file to file, each as it was seen last', async ({ page }) => {
  await page.keyboard.press('+');
  await expect(page).toHaveURL(/x=/);
  await dropPaths(page, LEAK);
  await askedOf(page).getByRole('button', { name: 'Replace with eval_without' }).click();
  await expect(fileOf(page)).toHaveText('eval_without_no_grad.python.pickle.gz');
  await tabsOf(page).filter({ hasText: 'Allocations' }).click();
  await expect(page.getByRole('grid', { name: 'Allocations' })).toBeVisible();

  await page.goBack();
  await expect(plotOf(page)).toBeVisible();
  await expect(fileOf(page)).toHaveText('eval_without_no_grad.python.pickle.gz');
  await page.goBack();
  await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');
  await expect(page).toHaveURL(/x=/);
  await expect(page.getByRole('button', { name: 'Back to eval_without' })).toBeVisible();
  await page.goBack();
  await expect(page).not.toHaveURL(/x=/);
  await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');
  await page.goForward();
  await expect(page).toHaveURL(/x=/);
  await page.goForward();
  await expect(fileOf(page)).toHaveText('eval_without_no_grad.python.pickle.gz');
  await page.goForward();
  await expect(page.getByRole('grid', { name: 'Allocations' })).toBeVisible();

  await test.step('a reloaded page cannot open what was dropped, and says so', async () => {
    await page.reload();
    await chooseFile(page, LEAK);
    await expect(page.getByRole('grid', { name: 'Allocations' })).toBeVisible();
    await page.goBack();
    await page.goBack();
    await expect(page.getByRole('complementary', { name: 'About the link' })).toContainText(
      'gpt_train.python.pickle.gz was opened before this page was reloaded.',
    );
  });
});

test('Back leaves a comparison, and Forward compares again', async ({ page }) => {
  const compared = page.getByTestId('compare');
  const isCompared = () =>
    expect(compared.getByRole('status', { name: 'Verdict' })).toBeVisible({ timeout: 30_000 });
  await dropPaths(page, LEAK);
  await askedOf(page).getByRole('button', { name: 'Compare with' }).click();
  await isCompared();
  await page.goBack();
  await expect(compared).toBeHidden();
  await expect(plotOf(page)).toBeVisible();
  await page.goForward();
  await isCompared();

  // The open file is neither of these two.
  await dropPaths(page, OTHER, LEAK);
  await askedOf(page).getByRole('button', { name: 'Compare the two files' }).click();
  await expect(compared).toContainText('resnet.python.pickle.gz');
  await isCompared();
  await idle(page);
  await page.goBack();
  await expect(compared).toContainText('gpt_train.python.pickle.gz');
  await isCompared();
  await page.goForward();
  await expect(compared).toContainText('resnet.python.pickle.gz');
  await isCompared();
});

test('two files: compared, or shown as ranks of a job', async ({ page }) => {
  await dropPaths(page, LEAK, OTHER);
  const asked = askedOf(page);
  await expect(asked.getByRole('button')).toHaveText([
    /^Compare the two files/,
    /^Show the two as ranks of a job/,
    /^Replace with eval_without/,
    /^Replace with resnet/,
    'Cancel',
  ]);
  await asked.getByRole('button', { name: 'Show the two as ranks' }).click();
  await expect(page.locator('tr:has([data-rank])')).toHaveCount(2);
  await page.getByRole('button', { name: 'Close the ranks' }).click();
  await expect(plotOf(page)).toBeVisible();
  await dropPaths(page, LEAK, OTHER);
  await asked.getByRole('button', { name: 'Compare the two files' }).click();
  const compared = page.getByTestId('compare');
  await expect(compared.getByRole('status', { name: 'Verdict' })).toBeVisible();
  await expect(compared).toContainText('resnet.python.pickle.gz');
  await idle(page);

  await test.step('the comparison becomes a job, and again a comparison', async () => {
    await compared.getByRole('button', { name: 'Show as ranks' }).click();
    const ranks = page.getByRole('main', { name: 'Ranks' });
    await expect(ranks.getByRole('status', { name: 'Verdict' })).toContainText('Rank 0 holds');
    await expect(page.locator('tr:has([data-rank])')).toHaveCount(2);
    await ranks.getByRole('button', { name: 'Close the ranks' }).click();
    await expect(compared.getByRole('status', { name: 'Verdict' })).toBeVisible();
    await page.getByRole('button', { name: 'Back to gpt_train' }).click();
    await expect(fileOf(page)).toHaveText('gpt_train.python.pickle.gz');
    await expect(compared).toBeHidden();
  });
});

test('files with ranks in their names are offered as ranks first', async ({ page }) => {
  const [rank2, rank3] = [2, 3].map((rank) => fixture(`fleet/fsdp2_rank${rank}.pickle.gz`));
  await dropPaths(page, rank2 ?? '', rank3 ?? '');
  const ranks = askedOf(page).getByRole('button', { name: 'Show the two as ranks' });
  await expect(ranks).toBeFocused();
  await page.keyboard.press('Escape');
  await page.goto('/');
  // On an empty page two files are compared, and the comparison offers the ranks.
  await dropPaths(page, rank2 ?? '', rank3 ?? '');
  const compared = page.getByTestId('compare');
  await expect(compared).toContainText('By their names, these are two ranks of one job.');
  await compared.getByRole('button', { name: 'Show as ranks' }).click();
  await expect(page.locator('tr:has([data-rank])')).toHaveCount(2);
});
