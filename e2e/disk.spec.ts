/** Files on disk: written again while they are open. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { addressOf } from './served.ts';
import { dropPaths, fixture, idle, plotOf, summaryOf } from './viewer.ts';

let folder: string;
let file: string;

/** As the program does that records it. */
const write = (name: string): void => copyFileSync(fixture(`${name}.pickle.gz`), file);

test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-disk-'));
  file = join(folder, 'snapshot.pickle.gz');
  write('train_gpt_small');
});
test.afterEach(() => rmSync(folder, { recursive: true }));

const barOf = (page: Page) => page.getByRole('complementary', { name: 'Changed on disk' });
const peakOf = (page: Page) => summaryOf(page).getByText('1.26 GiB');

test('a dropped file that is written again is offered, opened and compared when asked', async ({
  page,
}) => {
  await page.goto('/');
  await dropPaths(page, file);
  await expect(peakOf(page).first()).toBeVisible();
  await idle(page);
  write('train_annotated');
  await expect(barOf(page)).toContainText('snapshot.pickle.gz changed on disk.');
  // Nothing happens by itself.
  await expect(peakOf(page).first()).toBeVisible();
  await barOf(page).getByRole('button', { name: 'Keep the one' }).click();
  await expect(barOf(page)).toBeHidden();

  write('oom_fragmented');
  await barOf(page).getByRole('button', { name: 'Open the new one' }).press('Enter');
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('6.00 GiB');
  await expect(barOf(page)).toBeHidden();
  // The file as it was is gone, so nothing leads back to it.
  await expect(page.getByRole('button', { name: /^Back to/ })).toHaveCount(0);

  write('train_gpt_small');
  await barOf(page).getByRole('button', { name: 'Compare with it' }).click();
  await expect(page.getByTestId('compare').getByRole('status', { name: 'Verdict' })).toBeVisible();
  await idle(page);
});

test('so is the file that the program serves', async ({ page }) => {
  const server = spawn(process.execPath, ['bin/vramscope.mjs', file, '--port', '0', '--no-open']);
  try {
    await page.goto(await addressOf(server));
    await expect(plotOf(page)).toBeVisible();
    await idle(page);
    write('oom_fragmented');
    await barOf(page).getByRole('button', { name: 'Open the new one' }).click();
    await expect(page.getByRole('region', { name: 'Summary' })).toContainText('6.00 GiB');
    await expect(barOf(page)).toBeHidden();
  } finally {
    server.kill();
  }
});
