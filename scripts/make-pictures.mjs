/**
 * Retakes the pictures of README and docs in both themes, from dist/: npm run build && node scripts/make-pictures.mjs
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startBrowser } from '../bench/measure-page.mjs';
import { ROOT } from './run-command.mjs';

const SNAPSHOT = join(ROOT, 'fixtures', 'oom_fragmented.pickle.gz');
const PICTURES = [
  { name: 'timeline', hash: '' },
  { name: 'addresses', hash: '#v=1&view=address-map' },
];

const started = await startBrowser();
try {
  for (const theme of /** @type {const} */ (['dark', 'light'])) {
    for (const { name, hash } of PICTURES) await take(name, hash, theme);
    await takeRanks('ranks', /^fsdp2_rank/, theme);
    await takeRanks('ranks-pipeline', /^pipeline_rank/, theme);
  }
} finally {
  await started.close();
}

/** @param {string} name @param {string} hash @param {'dark' | 'light'} theme */
async function take(name, hash, theme) {
  const viewport = { width: 1280, height: 800 };
  const page = await started.browser.newPage({ viewport, colorScheme: theme });
  const whenIdle = () => page.evaluate(() => window.vramscope.whenIdle());
  await page.goto(started.url + hash);
  await whenIdle();
  await page.getByTestId('file-input').setInputFiles(SNAPSHOT);
  // Findings arrive one by one. With the simulated setting, they are complete.
  await page.getByText('Compare settings').first().waitFor();
  await whenIdle();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(ROOT, 'docs', 'images', `${name}-${theme}.png`) });
  await page.close();
}

/** The ranks of a job of fixtures/fleet. @param {string} name @param {RegExp} files @param {'dark' | 'light'} theme */
async function takeRanks(name, files, theme) {
  const viewport = { width: 1280, height: 640 };
  const page = await started.browser.newPage({ viewport, colorScheme: theme });
  const fleet = join(ROOT, 'fixtures', 'fleet');
  const job = readdirSync(fleet).filter((file) => files.test(file) && !file.includes('truth'));
  await page.goto(started.url);
  await page.getByTestId('file-input').setInputFiles(job.map((file) => join(fleet, file)));
  await page.locator('tr:has([data-rank])').nth(3).waitFor();
  await page.evaluate(() => window.vramscope.whenIdle());
  if (name === 'ranks-pipeline') await page.getByLabel('Group by role').check();
  await page.mouse.move(0, 0);
  const path = join(ROOT, 'docs', 'images', `${name}-${theme}.png`);
  await page.screenshot({ path });
  if (name === 'ranks') {
    await page.getByRole('button', { name: 'Heat map' }).click();
    await page.screenshot({ path: path.replace('ranks-', 'ranks-heat-') });
  }
  await page.close();
}
