/** Files on disk: written again while they are open, and remembered if the user asks for it. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import { addressOf } from './served.ts';
import { dropPaths, fixture, idle, plotOf, summaryOf, unzipped } from './viewer.ts';

let folder: string;
let file: string;

const write = (name: string): void => copyFileSync(fixture(`${name}.pickle.gz`), file);

/** The program writes the file again, and the user comes back to the page, which then looks at once. */
async function writeAgain(page: Page, name: string): Promise<void> {
  write(name);
  await expect(async () => {
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await expect(barOf(page)).toBeVisible({ timeout: 200 });
  }).toPass();
}

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
  await writeAgain(page, 'train_annotated');
  await expect(barOf(page)).toContainText('snapshot.pickle.gz changed on disk.');
  // Nothing happens by itself.
  await expect(peakOf(page).first()).toBeVisible();
  await barOf(page).getByRole('button', { name: 'Keep the one' }).click();
  await expect(barOf(page)).toBeHidden();

  await writeAgain(page, 'oom_fragmented');
  await barOf(page).getByRole('button', { name: 'Open the new one' }).press('Enter');
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('6.00 GiB');
  await expect(barOf(page)).toBeHidden();
  // The file as it was is gone, so nothing leads back to it.
  await expect(page.getByRole('button', { name: /^Back to/ })).toHaveCount(0);

  await writeAgain(page, 'train_gpt_small');
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
    await writeAgain(page, 'oom_fragmented');
    await barOf(page).getByRole('button', { name: 'Open the new one' }).click();
    await expect(page.getByRole('region', { name: 'Summary' })).toContainText('6.00 GiB');
    await expect(barOf(page)).toBeHidden();
  } finally {
    server.kill();
  }
});

/** Puts a file where the browser's own chooser finds it; without a text, deletes it. */
async function putOnDisk(page: Page, name: string, capture?: string): Promise<void> {
  const base64 = capture && unzipped(capture).buffer.toString('base64');
  await page.evaluate(
    async ([own, content]) => {
      const root = await navigator.storage.getDirectory();
      if (content === undefined) return root.removeEntry(own);
      const file = await (await root.getFileHandle(own, { create: true })).createWritable();
      await file.write(Uint8Array.from(atob(content), (c) => c.charCodeAt(0)));
      await file.close();
    },
    [name, base64] as const,
  );
}

/** The chooser, as if the user chose a file in it. Counts how often the page asked to read one. */
async function replaceChooser(page: Page, name: string): Promise<void> {
  await page.addInitScript((own) => {
    Object.assign(window, {
      showOpenFilePicker: async () => [
        await (await navigator.storage.getDirectory()).getFileHandle(own),
      ],
    });
    const isRefused = () => sessionStorage.getItem('refuses') !== null;
    Object.assign(FileSystemFileHandle.prototype, {
      requestPermission: async () => (isRefused() ? 'denied' : 'granted'),
    });
  }, name);
}

const storedOf = (page: Page) =>
  page.evaluate(async () => [
    ...(await indexedDB.databases()).map(({ name }) => name),
    ...Object.keys(localStorage),
  ]);

test('files are remembered once the user asks for it: opened again, refused, gone, forgotten', async ({
  page,
}) => {
  await replaceChooser(page, 'run.pickle');
  await page.goto('/');
  await putOnDisk(page, 'run.pickle', 'oom_fragmented.pickle.gz');
  const choose = page.getByRole('button', { name: 'Choose a file…' });
  const remember = page.getByRole('checkbox', { name: /^Remember the files I open/ });
  const recent = page.getByRole('region', { name: 'Recent files' });
  const file = recent.getByRole('button', { name: /^run\.pickle/ });

  await test.step('nothing is stored before', async () => {
    await choose.click();
    await expect(plotOf(page)).toBeVisible();
    await idle(page);
    expect(await storedOf(page)).toEqual([]);
    await page.reload();
    await expect(remember).not.toBeChecked();
    await expect(recent).toBeHidden();
  });

  await test.step('by keyboard: switched on, listed with its verdict, opened again', async () => {
    await remember.press('Space');
    await expect(page.getByText('Files that you open from now on are listed here.')).toBeVisible();
    await choose.click();
    const verdict = page.getByRole('status', { name: 'Verdict' });
    await expect(verdict).toContainText('ragment');
    await idle(page);
    await page.reload();
    await expect(file).toContainText(/kB, \w{3} \d+, \d{4}/);
    await expect(file).toContainText('ragment');
    const axe = new AxeBuilder({ page }).include('main').setLegacyMode();
    expect((await axe.analyze()).violations.map(({ id }) => id)).toEqual([]);
    await file.press('Enter');
    await expect(plotOf(page)).toBeVisible();
    await idle(page);
    await page.reload();
    await expect(recent.getByRole('listitem')).toHaveCount(1);
  });

  await test.step('says so if the browser refuses, and if the file is gone', async () => {
    await page.evaluate(() => sessionStorage.setItem('refuses', 'yes'));
    await file.click();
    await expect(recent.getByRole('alert')).toContainText(
      'Your browser did not let the page read run.pickle.',
    );
    await page.evaluate(() => sessionStorage.clear());
    await putOnDisk(page, 'run.pickle');
    await file.click();
    await expect(recent.getByRole('alert')).toHaveText(
      'run.pickle is no longer there. It was moved, renamed or deleted.',
    );
  });

  await test.step('forgets one, and all', async () => {
    await recent.getByRole('button', { name: 'Forget run.pickle' }).click();
    await expect(recent).toBeHidden();
    await remember.uncheck();
    await expect(remember).not.toBeChecked();
    await expect.poll(() => storedOf(page)).toEqual(['vramscope.preferences']);
  });
});

test('a browser that can’t find files again offers nothing to remember', async ({ page }) => {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showOpenFilePicker'));
  await page.goto('/');
  await expect(page.getByTestId('drop-zone')).toBeVisible();
  await expect(page.getByRole('checkbox')).toHaveCount(0);
  // Its file chooser is an input.
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file…' }).click();
  await (await chooser).setFiles(fixture('train_gpt_small.pickle.gz'));
  await expect(plotOf(page)).toBeVisible();
});
