/** The whole card: rows below the timeline, the account's part of it, the samples' table. Recorded on an H200. */
import { readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import { chooseFile, fixture, idle, openCapture } from './viewer.ts';

const CARD = 'record/ledger/card.pickle.gz';

const strip = (page: Page) => page.getByTestId('card-strip');
const tooltip = (page: Page) => page.getByTestId('tooltip');
const account = (page: Page) => page.getByRole('list', { name: 'Parts of the card' });
const legend = (page: Page) => page.getByRole('list', { name: 'Rows of the card' });

test('shows who holds the card, by pointer and by keys', async ({ page }) => {
  await openCapture(page, CARD);
  await expect(legend(page).getByRole('listitem')).toHaveText([
    'PyTorch, allocated',
    'PyTorch, cached',
    'PyTorch, private pools',
    'this process outside PyTorch',
    'other processes',
    'not explained',
    'free',
  ]);

  await test.step('the pointer tells a row, its bytes and its moment', async () => {
    await strip(page).hover({ position: { x: 300, y: 10 } });
    await expect(tooltip(page)).toContainText('GiB free');
    await expect(tooltip(page)).toContainText(/\d+% of the card's 139\.80 GiB/);
    await expect(tooltip(page)).toContainText(/sampled .*, after event \d+/);
  });

  await test.step('keys go from sample to sample and from row to row', async () => {
    await strip(page).focus();
    await page.keyboard.press('End');
    await expect(strip(page)).toHaveAttribute('aria-label', /PyTorch, allocated, .*at the dump/);
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowUp');
    await expect(strip(page)).toHaveAttribute('aria-label', /MiB PyTorch, private pool/);
    await page.keyboard.press('ArrowUp');
    await expect(tooltip(page)).toContainText('680.00 MiB this process outside PyTorch');
    await page.keyboard.press('ArrowLeft');
    await expect(tooltip(page)).toContainText('at an interval');
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

  await test.step('the summary lists the samples, which lead to the timeline', async () => {
    await page.getByTestId('view-tabs').getByRole('button', { name: 'Summary' }).click();
    const region = page.getByRole('region', { name: 'The whole card' });
    await expect(region).toContainText('139.80 GiB, 91 samples by vramscope.record()');
    const table = page.getByRole('grid', { name: 'Samples of the card' });
    await expect(table.getByRole('row').nth(1)).toContainText('at the start');
    await table.getByText('at the start').click();
    await expect(strip(page)).toBeVisible();
  });
});

test('the account of an OOM has the sample that was taken inside the failed request', async ({
  page,
}) => {
  await openCapture(page, 'record/ledger/oom.pickle.gz');
  await expect(page.getByRole('region', { name: 'Where the memory is' })).toContainText(
    '139.80 GiB, sampled when memory ran out, after event 34',
  );
  await expect(account(page)).toContainText('PyTorch, allocated136.00 GiB');
  await expect(account(page)).toContainText('this process outside PyTorch518.00 MiB');
  await expect(account(page)).toContainText('free3.29 GiB');
});

test('reads a ledger beside the file, and says why rows cannot be told apart', async ({ page }) => {
  const sample = { time_us: 1, device: 0, moment: 'start', total: 12 * 2 ** 30, free: 2 ** 30 };
  const ledger = {
    version: 1,
    samples: [{ ...sample, allocated: 0, reserved: 0 }],
    missing: { process: 'nvidia-ml-py is not installed' },
  };
  const buffer = Buffer.from(JSON.stringify(ledger));
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
      { name: 'run.ledger.json', mimeType: 'application/json', buffer },
    ]);
  await expect(legend(page)).toContainText('other processes and this process outside PyTorch');
  await expect(page.getByRole('region', { name: 'Where the memory is' })).toContainText(
    "We can't tell other processes and this process outside PyTorch apart, because nvidia-ml-py is not installed.",
  );
});

test('is not there without a ledger; an OOM still says what it knows', async ({ page }) => {
  await openCapture(page, 'train_resnet.pickle.gz');
  await expect(strip(page)).toBeHidden();
  await expect(page.getByRole('button', { name: 'the card' })).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'The whole card' })).toHaveCount(0);
  await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
  await expect(account(page)).toContainText('free130.88 GiB');
  await expect(page.getByRole('region', { name: 'Where the memory is' })).toContainText(
    'because the file has no ledger: record with vramscope.record().',
  );
});

test('axe finds nothing in the rows of the card', async ({ page }) => {
  await openCapture(page, CARD);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await idle(page);
    const axe = new AxeBuilder({ page }).include('#view-picture').include('.findings');
    const { violations } = await axe.setLegacyMode().analyze();
    const found = violations.filter(({ id }) => id !== 'heading-order');
    expect(found.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html}`)).toEqual([]);
  }
});
