/** Recordings with C++ frames, PyTorch's default, on a small screen. */
import { expect, type Locator, type Page, test } from '@playwright/test';
import {
  chooseFile,
  idle,
  legendOf,
  openCapture,
  plotOf,
  pointAt,
  showView,
  summaryOf,
} from './viewer.ts';

test.use({ viewport: { width: 1024, height: 768 } });

/** Must not appear on screen. Full names are in tooltips, one click away. */
const RAW = /\?\?|std::|at::|c10::|tmpxft/;

/**
 * Elements that are wider than their box, or extend beyond the part of the page that they belong to. Text cut off by
 * an ellipsis is fine if the tooltip has all of it.
 */
async function tooWide(part: Locator): Promise<string[]> {
  return part.first().evaluate((root) => {
    const edge = root.getBoundingClientRect().right + 1;
    const isCut = (element: Element) =>
      getComputedStyle(element).textOverflow === 'ellipsis' && element.closest('[title]') !== null;
    const found = [root, ...root.querySelectorAll('*')].filter((element) => {
      const { width, right } = element.getBoundingClientRect();
      if (width === 0 || isCut(element)) return false;
      const isBox = element.clientWidth > 0 && !(element instanceof SVGElement);
      return (isBox && element.scrollWidth > element.clientWidth + 1) || right > edge;
    });
    return found.map(({ className, textContent }) => `${className}: ${textContent?.slice(0, 80)}`);
  });
}

async function expectReadable(part: Locator): Promise<void> {
  await expect(part.first()).toBeVisible();
  await expect(part.first()).not.toHaveText(RAW);
  expect(await tooWide(part)).toEqual([]);
}

const detailsOf = (page: Page): Locator => page.getByTestId('details');

/** Opens all folded frames, and the first C++ name in full. */
async function openFrames(page: Page): Promise<void> {
  const folds = page.getByRole('button', { name: /internal frame/, expanded: false });
  // An opened one no longer matches, so the first match is always the next one.
  while ((await folds.count()) > 0) await folds.first().click();
}

/** Points at a block allocated by a line of Python: tries several heights. */
async function pointOnPython(page: Page, fromLeft: number): Promise<{ x: number; y: number }> {
  const heights = [0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4];
  let tried = 0;
  let at = { x: 0, y: 0 };
  await expect(async () => {
    at = await pointAt(page, fromLeft, heights[tried++ % heights.length] ?? 0);
    await page.mouse.move(at.x, at.y);
    await expect(page.getByTestId('tooltip')).toContainText('scenarios.py', { timeout: 1000 });
  }).toPass();
  return at;
}

/** With a place, from the left, where blocks are thick enough to hit. */
for (const [name, fromLeft] of [
  ['frag_gpt_varlen', 0.97],
  ['oom_batch_too_big', 0.86],
] as const) {
  test(`${name} reads as a recording of Python alone`, async ({ page }) => {
    await openCapture(page, `default_stacks/${name}.pickle.gz`);
    await expectReadable(page.getByRole('status', { name: 'Verdict' }));
    await expectReadable(legendOf(page).getByRole('list'));
    await expect(legendOf(page)).toContainText(/scenarios\.py:\d+/);
    const at = await pointOnPython(page, fromLeft);
    await expectReadable(page.getByTestId('tooltip'));
    await page.mouse.click(at.x, at.y);
    await expect(page.getByTestId('stack').first()).toContainText('scenarios.py');
    await expectReadable(detailsOf(page));
    await openFrames(page);
    await expectReadable(detailsOf(page));
    const whole = page.getByTestId('stack').getByTitle(/at::/).first();
    const title = (await whole.getAttribute('title')) ?? '';
    await whole.click();
    await expect(page.getByTestId('stack').getByText(title.split('\n')[0]).first()).toBeVisible();
    expect(await tooWide(detailsOf(page))).toEqual([]);
    await page.keyboard.press('Escape');
    if (name === 'frag_gpt_varlen') await expectNamedBackward(page);
  });
}

/** A backward thread is named by its node, in every view. */
async function expectNamedBackward(page: Page): Promise<void> {
  // At the reserved peak, where the file opens, backward has little.
  const summary = summaryOf(page);
  await summary.getByRole('button', { name: /^(Figures|\d+ notes?)$/ }).click();
  await summary
    .getByRole('button', { name: /^Peak allocated/ })
    .last()
    .click();
  await page.keyboard.press('Escape');
  await expect(legendOf(page)).toContainText('SoftmaxBackward0');
  for (const view of ['Flame', 'Events', 'Allocations', 'State']) {
    await showView(page, view);
    await idle(page);
    const main = page.getByRole('main');
    if (view === 'Allocations') await page.getByRole('button', { name: 'By call site' }).click();
    if (view !== 'Flame') await expect(main).toContainText(/\w+Backward0 \(backward pass\)/);
    await expect(main).not.toHaveText(RAW);
  }
}

test('names of 10 kB and stacks of C++ alone break no layout', async ({ page }) => {
  const frame = (name: string, filename: string) => ({ name, filename, line: 1 });
  const long = 'f'.repeat(10_000);
  const stacks = [
    [frame(`at::native::${long}(int)`, '??'), frame('torch::autograd::Engine::run()', '??')],
    [frame(`${long}<${long}>::g(std::vector<int>)`, `/x/${long}.cpp`)],
    [frame(long, `/home/${long}/${long}.py`)],
  ];
  const trace = stacks.map((frames, i) => {
    return {
      action: 'alloc',
      addr: 2 ** 40 + i * 2 ** 22,
      size: 2 ** 22,
      stream: 0,
      time_us: i,
      frames,
    };
  });
  const text = JSON.stringify({ segments: [], device_traces: [trace] });
  await page.goto('/');
  await chooseFile(page, { name: 'long.json', mimeType: '', buffer: Buffer.from(text) });
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
  await expectReadable(page.getByRole('status', { name: 'Verdict' }));
  await expectReadable(legendOf(page).getByRole('list'));
  for (const height of [0.1, 0.3, 0.45]) {
    const at = await pointAt(page, 0.9, height);
    await page.mouse.move(at.x, at.y);
    await expectReadable(page.getByTestId('tooltip'));
    await page.mouse.click(at.x, at.y);
    // The previous allocation stays until this one has been found.
    await idle(page);
    await expect(page.getByTestId('stack').first()).toBeVisible();
    await openFrames(page);
    await page.getByTestId('stack').getByRole('button', { expanded: false }).first().click();
    expect(await tooWide(detailsOf(page))).toEqual([]);
  }
});
