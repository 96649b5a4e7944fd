import { expect, type Locator, type Page, test } from '@playwright/test';
import { build } from 'vite';

const LAST = 9_999_999;

/** The page as one script and one style sheet; building it takes a second. */
async function bundle(): Promise<{ script: string; style: string }> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      lib: { entry: 'e2e/ten-million-rows.tsx', formats: ['es'], fileName: 'page' },
    },
  });
  const [output] = Array.isArray(result) ? result : [result];
  if (output === undefined || !('output' in output)) throw new Error('Nothing was built');
  let script = '';
  let style = '';
  for (const file of output.output) {
    if (file.type === 'chunk') script += file.code;
    else style += String(file.source);
  }
  return { script, style };
}

/** One page, built once for all tests. */
test.describe.configure({ mode: 'default' });
let page: Page;
let table: Locator;

test.beforeAll(async ({ browser }) => {
  const { script, style } = await bundle();
  page = await browser.newPage();
  await page.setContent('<title>rows</title><div id="root"></div>');
  await page.addStyleTag({ content: style });
  await page.addScriptTag({ content: script, type: 'module' });
  table = page.getByRole('grid', { name: 'Numbers' });
});

test.afterAll(() => page.close());

const row = (index: number): Locator => page.getByText(`row ${index}`, { exact: true });

/** Whether a row's full height is inside the table, below the header. */
async function isWhole(index: number): Promise<boolean> {
  const [cell, outer, header] = await Promise.all([
    row(index).boundingBox(),
    table.boundingBox(),
    page.getByRole('columnheader', { name: 'Row' }).boundingBox(),
  ]);
  if (cell === null || outer === null || header === null) return false;
  return (
    cell.y >= header.y + header.height - 1 && cell.y + cell.height <= outer.y + outer.height + 0.5
  );
}

const scrollTo = (share: number) =>
  table.evaluate((element, at) => {
    const scroller = element.closest('.table-scroller');
    if (scroller !== null)
      scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * at;
  }, share);

test('End and Home reach the very last and first of ten million rows, whole', async () => {
  await expect(row(0)).toBeVisible();
  await table.focus();
  await page.keyboard.press('End');
  await expect(row(LAST)).toBeVisible();
  await expect.poll(() => isWhole(LAST)).toBe(true);
  await expect(table).toHaveAttribute('aria-rowcount', '10000001');
  await expect(page.locator(`[aria-rowindex="${LAST + 2}"]`)).toContainText(`row ${LAST}`);
  await page.keyboard.press('Enter');
  await expect(page).toHaveTitle(`activated ${LAST}`);
  await page.keyboard.press('Home');
  await expect(row(0)).toBeVisible();
  await expect.poll(() => isWhole(0)).toBe(true);
});

test('the scrollbar spans all rows, and the wheel continues from there row by row', async () => {
  await scrollTo(1);
  await expect(row(LAST)).toBeVisible();
  await expect.poll(() => isWhole(LAST)).toBe(true);
  await scrollTo(0.5);
  await expect(row(5_000_000)).toBeVisible();
  await row(5_000_000).hover();
  const before = await row(5_000_000).boundingBox();
  await page.mouse.wheel(0, 52);
  await expect
    .poll(async () => (before?.y ?? 0) - ((await row(5_000_000).boundingBox())?.y ?? 0))
    .toBe(52);
});

test('the wheel alone reaches the end from nearby', async () => {
  await scrollTo(1);
  await expect(row(LAST)).toBeVisible();
  await row(LAST).hover();
  await page.mouse.wheel(0, -3000);
  await expect(row(LAST)).toHaveCount(0);
  for (let i = 0; i < 31; i++) await page.mouse.wheel(0, 100);
  await expect(row(LAST)).toBeVisible();
  await expect.poll(() => isWhole(LAST)).toBe(true);
});

test('holds no more rows than are visible, however it is scrolled', async () => {
  for (const share of [0.1, 0.37, 0.9]) {
    await scrollTo(share);
    await expect(page.getByRole('row').nth(5)).not.toHaveAttribute('aria-busy');
    expect(await page.getByRole('row').count()).toBeLessThan(25);
  }
});
