/** A job's ranks: a dropped folder, the outlier found by eye and by order, its snapshot opened at the line. */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, type Locator, type Page, test } from '@playwright/test';
import { addressOf } from './served.ts';
import { dropPaths, fixture, idle, plotOf, searchOf } from './viewer.ts';

let folder: string;

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-ranks-'));
  const job = join(folder, 'job', 'step_12');
  mkdirSync(job, { recursive: true });
  for (const rank of [0, 1]) {
    copyFileSync(
      fixture(`fleet/fsdp2_rank${rank}.vramscope.json`),
      join(job, `rank${rank}.vramscope.json`),
    );
  }
  for (const rank of [2, 3]) {
    copyFileSync(fixture(`fleet/fsdp2_rank${rank}.pickle.gz`), join(job, `rank${rank}.pickle.gz`));
  }
  writeFileSync(join(job, 'rank7.vramscope.json'), '{"schema":"vramscope.summary/9"}');
  writeFileSync(join(job, 'rank2.log'), 'started');
});
test.afterAll(() => rmSync(folder, { recursive: true }));

const rowsOf = (page: Page): Locator => page.locator('tr:has([data-rank])');
const rowOf = (page: Page, rank: number): Locator => page.locator(`tr:has([data-rank="${rank}"])`);
const ranksShown = (page: Page) =>
  page
    .locator('[data-rank]')
    .evaluateAll((ranks) => ranks.map((rank) => (rank as HTMLElement).dataset.rank));

test('a dropped folder: the leaking rank comes first, and leads to its line', async ({ page }) => {
  await page.goto('/');
  await dropPaths(page, join(folder, 'job'));
  const ranks = page.getByRole('main', { name: 'Ranks' });
  await expect(ranks).toBeVisible();
  await expect(rowsOf(page)).toHaveCount(4);
  await expect(ranks.getByRole('status', { name: 'Verdict' })).toContainText(
    'Rank 2 keeps 8.02 MiB every step at fleet.py:26 (fsdp2), and no other rank of role A does',
  );
  await expect(ranks).toContainText(
    'rank7.vramscope.json: This summary was written by a newer vramscope',
  );
  // By order: the farthest comes first. By eye: its bar is the longest.
  await expect.poll(() => ranksShown(page)).toEqual(['2', '0', '1', '3']);
  const row = rowOf(page, 2);
  await expect(row).toContainText('605.98 MiB');
  await expect(row).toContainText('+88.00 MiB');
  await expect(row).toContainText('growth');
  await expect.poll(() => barLength(row)).toBeGreaterThan(0);
  expect(await barLength(row)).toBeGreaterThan(1.1 * (await barLength(rowOf(page, 0))));
  await ranks.getByLabel('Order by').selectOption('rank');
  await expect.poll(() => ranksShown(page)).toEqual(['0', '1', '2', '3']);
  await ranks.getByLabel('Group by role').check();
  await expect(ranks).toContainText('4 ranks (0–3): all ranks do the same');

  // A summary alone cannot be opened; a snapshot can, at the line.
  await rowOf(page, 0).click();
  const details = page.getByRole('complementary');
  await expect(details).toContainText('Only its summary was given');
  await row.click();
  await expect(details.getByRole('row').nth(1)).toContainText('fleet.py:26 (fsdp2)');
  await details.getByRole('button', { name: 'Open its snapshot' }).click();
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
  await expect(page.getByTestId('device-select').locator('option:checked')).toHaveText(/^cuda:2 /);
  await expect(searchOf(page)).toHaveValue(/fsdp2@.*fleet\.py:26/);

  // And back, where everything is as before.
  await page.getByRole('button', { name: 'Ranks' }).click();
  await expect(plotOf(page)).toBeHidden();
  await expect.poll(() => ranksShown(page)).toEqual(['0', '1', '2', '3']);
  await page.goBack();
  await expect(plotOf(page)).toBeVisible();
  await page.goForward();
  await expect(plotOf(page)).toBeHidden();
  await ranks.getByRole('button', { name: 'Heat map' }).click();
  await expect(
    ranks.getByRole('button', { name: /^Heat map of 4 ranks by 12 steps/ }),
  ).toBeVisible();

  // Compared with its role: among the others, only rank 3 has its snapshot here.
  await details.getByRole('button', { name: 'Compare with rank 3' }).click();
  const compared = page.getByTestId('compare');
  await expect(compared.getByRole('status', { name: 'Verdict' })).toContainText('88.00 MiB');
  await page.getByRole('button', { name: 'Ranks' }).click();
  await expect(compared).toBeHidden();
  await ranks.getByRole('button', { name: 'Close the ranks' }).click();
  await expect(compared).toBeVisible();
});

test('the program serves the ranks of a folder', async ({ page }) => {
  const program = resolve('bin/vramscope.mjs');
  const args = [program, join(folder, 'job'), '--port', '0', '--no-open'];
  const server = spawn(process.execPath, args);
  await page.goto(await addressOf(server));
  await expect(rowsOf(page)).toHaveCount(4);
  await rowOf(page, 2).dblclick();
  await expect(plotOf(page)).toBeVisible();
  server.kill('SIGINT');
  // In as many threads as there are cores.
  const out = execFileSync(process.execPath, [program, 'ranks', join(folder, 'job'), '--json'], {
    encoding: 'utf8',
  });
  expect(JSON.parse(out).outliers).toMatchObject([{ rank: 2, cause: 'growth' }]);
});

/** Pixels of the bar's canvas that are drawn on, in its middle row. */
async function barLength(row: Locator): Promise<number> {
  return row
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => {
      const context = canvas.getContext('2d');
      const { data } = context?.getImageData(0, canvas.height >> 1, canvas.width, 1) ?? {
        data: [],
      };
      let last = 0;
      // The tick of reserved memory is an isolated pixel or two, while a bar continues.
      for (let x = 4; x < data.length / 4; x++) {
        if (data[4 * x + 3] === 255 && data[4 * (x - 4) + 3] === 255) last = x;
      }
      return last;
    });
}

test('several files are ranks too, by keyboard and as Markdown', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/');
  const files = [0, 1, 2, 3].map((rank) => fixture(`fleet/pipeline_rank${rank}.vramscope.json`));
  await page.getByTestId('file-input').setInputFiles(files);
  const ranks = page.getByRole('main', { name: 'Ranks' });
  await expect(rowsOf(page)).toHaveCount(4);
  await expect(ranks).toContainText('Activations fall with the stage');
  await expect(ranks).toContainText('4 ranks in 3 roles');
  await page.getByRole('grid', { name: 'Ranks' }).focus();
  await page.keyboard.press('End');
  await expect(page.getByRole('complementary', { name: 'Rank 3' })).toBeVisible();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('complementary', { name: 'Rank 2' })).toBeVisible();
  await ranks.getByRole('button', { name: 'Copy as Markdown' }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toContain('| 3 | C | 1.03 GiB |');
});

test('a folder with the dumps of one process is a timeline of dumps, and says what grew', async ({
  page,
}) => {
  await page.goto('/');
  await dropPaths(page, fixture('serving/dumps'));
  const main = page.getByRole('main', { name: 'Ranks' });
  await expect(main.getByRole('status', { name: 'Verdict' })).toContainText(
    '3 dumps of one process: 802.45 MiB → 837.60 MiB → 872.76 MiB allocated (+70.32 MiB). In every dump there is more from moe.py:50 (forward)',
  );
  const dumps = main.getByRole('region', { name: 'Timeline of dumps' }).getByRole('button');
  await expect(dumps).toHaveCount(3);
  const lines = main.getByRole('table', { name: 'What changed between the dumps' });
  await expect(lines.getByRole('row', { name: /^moe\.py:50/ })).toContainText(
    /39\.05 MiB.*74\.20 MiB.*109\.36 MiB.*\+70\.31 MiB/,
  );
  await dumps.nth(1).click();
  await expect(plotOf(page)).toBeVisible();
  await expect(page.locator('header').first()).toContainText('step20_rank0.pickle.gz');
});
