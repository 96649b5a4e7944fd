/** How much room the picture gets, and that nothing on the page is cut off by its box. */
import { expect, type Locator, type Page, test } from '@playwright/test';
import { idle, openCapture } from './viewer.ts';

const ROOM = [
  { width: 1440, height: 900, plot: 600, lines: 4 },
  { width: 1024, height: 768, plot: 480, lines: 5 },
] as const;

/** One with annotations above the plot, one with an OOM and gaps, one with C++ stacks. */
const CAPTURES = [
  'train_annotated.pickle.gz',
  'oom_fragmented.pickle.gz',
  'default_stacks/oom_batch_too_big.pickle.gz',
];

/** From the top of the plot to the bottom of its x axis. */
async function plotHeight(page: Page): Promise<number> {
  const plot = await page.locator('.plot-grid > .plot').boundingBox();
  const axis = await page.locator('.plot-grid > .x-axis').boundingBox();
  if (plot === null || axis === null) throw new Error('There is no plot');
  return axis.y + axis.height - plot.y;
}

for (const { width, height, plot } of ROOM) {
  test(`plots get ${plot} px of ${width} x ${height}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    for (const capture of CAPTURES) {
      await openCapture(page, capture);
      for (const view of ['Timeline', 'Addresses', 'Segments']) {
        await page.getByTestId('view-tabs').getByRole('button', { name: view }).click();
        await expect(page.locator('.plot-surface')).toBeVisible();
        await idle(page);
        expect(await plotHeight(page), `${view} of ${capture}`).toBeGreaterThanOrEqual(plot);
      }
    }
  });
}

/** Elements with text that their own box hides, by width or by height. */
async function clippedIn(part: Locator): Promise<readonly string[]> {
  return part.evaluate((root) =>
    [root, ...root.querySelectorAll('*')]
      .filter((element) => {
        const { overflowX, overflowY, display } = getComputedStyle(element);
        const isHidden = overflowX !== 'visible' || overflowY !== 'visible';
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
        const isLarger = scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
        return display !== 'inline' && isHidden && isLarger;
      })
      .map((element) => element.textContent ?? ''),
  );
}

test('the verdict has few lines until it is opened, and each is whole', async ({ page }) => {
  // The narrow panel needs more lines: what decides stands at their ends.
  for (const { width, height, lines: most } of ROOM) {
    await page.setViewportSize({ width, height });
    for (const capture of CAPTURES) {
      await openCapture(page, capture);
      const body = page.locator('.verdict-body');
      const count = await body.evaluate((element) => {
        return (
          element.getBoundingClientRect().height /
          Number.parseFloat(getComputedStyle(element).lineHeight)
        );
      });
      expect(count, capture).toBeLessThan(most + 0.3);
      expect(await clippedIn(body), capture).toEqual([]);
    }
  }
  const verdict = page.getByRole('status', { name: 'Verdict' });
  await verdict.getByRole('button', { name: 'The whole verdict' }).click();
  await expect(verdict.getByRole('region', { name: 'What to try first' })).toBeVisible();
});

/**
 * What is wider than its box without a way to see the rest: no scrolling, no ellipsis; and what stands
 * beyond the edge of the page.
 */
async function cutOff(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const isReadable = ({ overflowX, textOverflow }: CSSStyleDeclaration) =>
      overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis';
    const isCut = (element: HTMLElement): boolean => {
      const { left, right, width, height } = element.getBoundingClientRect();
      if (width === 0 || height === 0) return false;
      if (element.closest('.visually-hidden, .words, [popover]:not(:popover-open)')) return false;
      const isScrolled = [...ancestorsOf(element)].some((one) => isReadable(getComputedStyle(one)));
      if (!isScrolled && (right > window.innerWidth + 1 || left < -1)) return true;
      const style = getComputedStyle(element);
      const isBox = style.display !== 'inline' && !style.display.startsWith('table');
      const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '',
      );
      return (
        isBox && hasText && !isReadable(style) && element.scrollWidth > element.clientWidth + 1
      );
    };
    function* ancestorsOf(element: Element): Generator<Element> {
      for (let one = element.parentElement; one !== null; one = one.parentElement) yield one;
    }
    return [...document.querySelectorAll<HTMLElement>('body *')]
      .filter((element) => element instanceof HTMLElement && isCut(element))
      .map(
        (element) =>
          `${element.tagName}.${element.className}: ${element.textContent?.slice(0, 40)}`,
      );
  });
}

for (const { width, height, scale } of [
  { width: 1440, height: 900, scale: 1 },
  { width: 1024, height: 768, scale: 1 },
  { width: 800, height: 600, scale: 1 },
  // 1440 x 900 at 200 %: half as many CSS pixels.
  { width: 720, height: 450, scale: 2 },
]) {
  test.describe(`at ${width} x ${height}, scale ${scale}`, () => {
    test.use({ viewport: { width, height }, deviceScaleFactor: scale });
    for (const capture of [
      'default_stacks/oom_batch_too_big.pickle.gz',
      'oom_fragmented.pickle.gz',
    ]) {
      test(`nothing of ${capture} is wider than its box`, async ({ page }) => {
        await openCapture(page, capture);
        for (let digit = 1; digit <= 9; digit++) {
          await page.keyboard.press(String(digit));
          await idle(page);
          expect(await cutOff(page), `view ${digit}`).toEqual([]);
        }
      });
    }
  });
}
