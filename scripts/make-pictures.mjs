/** Takes the README's pictures anew, in both themes, from what is in dist/: npm run build && node scripts/make-pictures.mjs */
import { join } from 'node:path';
import { startBrowser } from '../bench/measure-page.mjs';
import { ROOT } from './run-command.mjs';

const SNAPSHOT = join(ROOT, 'fixtures', 'oom_fragmented.pickle.gz');
const PICTURES = [
  { name: 'timeline', hash: '' },
  { name: 'addresses', hash: '#v=1&view=addresses' },
];

const started = await startBrowser();
try {
  for (const theme of /** @type {const} */ (['dark', 'light'])) {
    for (const { name, hash } of PICTURES) await take(name, hash, theme);
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
  // Findings come one by one; with the simulated citation they are complete.
  await page.getByText('Compare settings').first().waitFor();
  await whenIdle();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(ROOT, 'docs', 'images', `${name}-${theme}.png`) });
  await page.close();
}
