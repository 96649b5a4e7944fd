/** The whole card: rows below the timeline, the account's part of it, the samples' table. From a made-up ledger. */
import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import { fixture, idle, openCapture } from './viewer.ts';

const GIB = 2 ** 30;
/** The recorder's clock at the first event of the capture. */
const START_US = 1_795_228_172_449_515;

/** A card of 12 GiB: this process alone at first, then NCCL and another process beside it. */
function ledger(isApart: boolean) {
  const samples = [0, 20_000, 1_000_000, 1_060_000, 2e9].map((afterUs, step) => ({
    time_us: START_US + afterUs,
    device: 0,
    moment: step === 0 ? 'start' : step === 4 ? 'dump' : 'step',
    step,
    total: 12 * GIB,
    allocated: GIB,
    reserved: 3 * GIB,
    free: (step < 2 ? 8.5 : 2) * GIB,
    ...(isApart && {
      process: (step < 2 ? 3.5 : 5) * GIB,
      others: step < 2 ? [] : [{ pid: 577, bytes: 5 * GIB }],
      communicators: step < 2 ? [] : [{ group: 'tp', backend: 'nccl', bytes: 1.5 * GIB }],
    }),
  }));
  const missing = isApart ? {} : { process: 'nvidia-ml-py is not installed' };
  return Buffer.from(JSON.stringify({ version: 1, samples, missing }));
}

async function openWithLedger(page: Page, isApart = true): Promise<void> {
  await page.goto('/');
  await page
    .getByTestId('file-input')
    .first()
    .setInputFiles([
      {
        name: 'run.pickle.gz',
        mimeType: 'application/gzip',
        buffer: readFileSync(fixture('train_resnet.pickle.gz')),
      },
      { name: 'run.ledger.json', mimeType: 'application/json', buffer: ledger(isApart) },
    ]);
  await expect(page.getByTestId('timeline')).toBeVisible();
  await idle(page);
}

const strip = (page: Page) => page.getByTestId('card-strip');
const tooltip = (page: Page) => page.getByTestId('tooltip');
const account = (page: Page) => page.getByRole('list', { name: 'Parts of the card' });

test('shows who holds the card, by pointer and by keys', async ({ page }) => {
  await openWithLedger(page);
  await expect(
    page.getByRole('list', { name: 'Rows of the card' }).getByRole('listitem'),
  ).toHaveText([
    'PyTorch, allocated',
    'PyTorch, cached',
    'NCCL',
    'this process outside PyTorch',
    'other processes',
    'free',
  ]);

  await test.step('the pointer tells a row, its bytes and its moment', async () => {
    const { width = 0, height = 0 } = (await strip(page).boundingBox()) ?? {};
    await strip(page).hover({ position: { x: width - 20, y: height * 0.35 } });
    await expect(tooltip(page)).toContainText('5.00 GiB other processes');
    await expect(tooltip(page)).toContainText("42% of the card's 12.00 GiB");
    await expect(tooltip(page)).toContainText('sampled at step 3, after event');
    await expect(tooltip(page)).toContainText('PID 577: 5.00 GiB');
  });

  await test.step('keys go from sample to sample and from row to row', async () => {
    await strip(page).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await expect(strip(page)).toHaveAttribute('aria-label', /^1\.50 GiB NCCL, group tp, .*dump/);
    await page.keyboard.press('ArrowLeft');
    await expect(tooltip(page)).toContainText('sampled at step 3');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/at=\d+/);
    await page.keyboard.press('Escape');
    await expect(tooltip(page)).toBeHidden();
  });

  await test.step('the rows fold', async () => {
    const toggle = page.getByRole('button', { name: 'the card' });
    await toggle.click();
    await expect(strip(page)).toBeHidden();
    await expect(toggle).toHaveAttribute('aria-expanded', 'false');
    await toggle.click();
    await expect(strip(page)).toBeVisible();
  });
});

test('the account has the card of its moment, and the verdict says who has it', async ({
  page,
}) => {
  await openWithLedger(page);
  await expect(account(page)).toContainText('PyTorch, allocated1.00 GiB');
  await page.getByRole('button', { name: 'At the end' }).click();
  await expect(account(page)).toContainText('NCCL, group tp1.50 GiB');
  await expect(account(page)).toContainText('other processes5.00 GiB 42%PID 577: 5.00 GiB');
  await page.getByRole('button', { name: 'The whole verdict' }).click();
  await expect(page.getByRole('status', { name: 'Verdict' })).toContainText(
    'Another process (PID 577) holds 5.00 GiB of this card',
  );
});

test('the summary lists the samples, which lead to the timeline', async ({ page }) => {
  await openWithLedger(page);
  await page.getByTestId('view-tabs').getByRole('button', { name: 'Summary' }).click();
  const table = page.getByRole('grid', { name: 'Samples of the card' });
  await expect(table.getByRole('row')).toHaveCount(6);
  await expect(table.getByRole('row', { name: /at step 3/ })).toContainText('1.50 GiB');
  await table.getByText('at the dump').click();
  await expect(strip(page)).toBeVisible();
});

test('says why rows cannot be told apart', async ({ page }) => {
  await openWithLedger(page, false);
  await expect(page.getByRole('list', { name: 'Rows of the card' })).toContainText(
    'other processes and this process outside PyTorch',
  );
  await expect(page.getByRole('region', { name: 'Where the memory is' })).toContainText(
    "We can't tell other processes and this process outside PyTorch apart, because nvidia-ml-py is not installed.",
  );
});

test('is not there without a ledger; an OOM still says what it knows', async ({ page }) => {
  await openCapture(page, 'train_resnet.pickle.gz');
  await expect(strip(page)).toBeHidden();
  await expect(page.getByRole('button', { name: 'the card' })).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'The whole card' })).toHaveCount(0);
  await openCapture(page, 'oom_fragmented.pickle.gz');
  await expect(account(page)).toContainText('free130.88 GiB');
  await expect(page.getByRole('region', { name: 'Where the memory is' })).toContainText(
    'because the file has no ledger: record with vramscope.record().',
  );
});

test('axe finds nothing in the rows of the card', async ({ page }) => {
  await openWithLedger(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await idle(page);
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
    expect(violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html}`)).toEqual(
      [],
    );
  }
});
