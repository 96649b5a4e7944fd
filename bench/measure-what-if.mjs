/** The what-if view of an open page: ten settings run, their smallest cards searched, the page meanwhile. */
import { takeLongTasks } from './page-probe.mjs';

const LIMIT_MS = 5 * 60_000;

/**
 * @param {import('@playwright/test').Page} page that shows a snapshot, and keeps its long tasks
 */
export async function measureWhatIf(page) {
  await takeLongTasks(page);
  const startMs = Date.now();
  await page.getByTestId('view-tabs').getByRole('button', { name: 'What if' }).click();
  const isRun = () => {
    const table = document.querySelector('table[aria-label="Settings"]');
    return table !== null && !table.textContent.includes('not run yet');
  };
  await page.waitForFunction(isRun, undefined, { timeout: LIMIT_MS, polling: 100 });
  const settingsMs = Date.now() - startMs;
  await page.evaluate(() => window.vramscope.whenIdle());
  const longTasksMs = await takeLongTasks(page);
  return { settingsMs, cardsMs: Date.now() - startMs - settingsMs, longTasksMs };
}
