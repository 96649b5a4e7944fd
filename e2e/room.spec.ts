/** How much space the picture gets, and that nothing on the page is cut off by its box. */
import { expect, type Locator, type Page, test } from '@playwright/test';
import { chooseFile, idle, openCapture, plotOf, pointAt } from './viewer.ts';

interface Size {
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor: number;
  /** The minimum height of a plot, and the most lines of a verdict. */
  readonly room?: { readonly plot: number; readonly lines: number };
}

const COMMON: readonly Size[] = [
  { width: 1440, height: 900, deviceScaleFactor: 1, room: { plot: 585, lines: 10 } },
  { width: 1024, height: 768, deviceScaleFactor: 1, room: { plot: 440, lines: 13 } },
];
const SMALL: readonly Size[] = [
  { width: 800, height: 600, deviceScaleFactor: 1 },
  // 1440 x 900 at 200%: half as many CSS pixels.
  { width: 720, height: 450, deviceScaleFactor: 2 },
];

/** One with annotations above the plot, one with an OOM and gaps, one with C++ stacks; and how many of its views. */
const CAPTURES = [
  { capture: 'train_annotated.pickle.gz', sizes: COMMON, views: 3 },
  { capture: 'oom_fragmented.pickle.gz', sizes: COMMON, views: 9 },
  {
    capture: 'default_stacks/oom_batch_too_big.pickle.gz',
    sizes: [...COMMON, ...SMALL],
    views: 9,
  },
];
/** The first views are plots. */
const PLOTS = 3;

/** From the top of the plot to the bottom of its x axis. */
async function plotHeight(page: Page): Promise<number> {
  const plot = await page.locator('.plot-grid > .plot').boundingBox();
  const axis = await page.locator('.plot-grid > .x-axis').boundingBox();
  if (plot === null || axis === null) throw new Error('There is no plot');
  return axis.y + axis.height - plot.y;
}

/** Elements whose own box hides some of their text, by width or by height. */
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

/** How many lines of text fit in the element's height. */
const linesOf = (part: Locator): Promise<number> =>
  part.evaluate(
    (element) =>
      element.getBoundingClientRect().height /
      Number.parseFloat(getComputedStyle(element).lineHeight),
  );

for (const { capture, sizes, views } of CAPTURES) {
  test(`plots have enough room, the verdict has few lines, and nothing is wider than its box: ${capture}`, async ({
    page,
    context,
  }) => {
    await openCapture(page, capture);
    const screen = await context.newCDPSession(page);
    const resize = ({ width, height, deviceScaleFactor }: Size) =>
      screen.send('Emulation.setDeviceMetricsOverride', {
        ...{ width, height, deviceScaleFactor, mobile: false },
      });
    for (let digit = 1; digit <= views; digit++) {
      await page.keyboard.press(String(digit));
      for (const size of sizes) {
        await resize(size);
        await idle(page);
        const what = `view ${digit} at ${size.width}`;
        await expect.poll(() => cutOff(page), what).toEqual([]);
        if (digit > PLOTS || size.room === undefined) continue;
        await expect(page.locator('.plot-surface')).toBeVisible();
        await expect.poll(() => plotHeight(page), what).toBeGreaterThanOrEqual(size.room.plot);
      }
    }
    for (const size of COMMON) {
      await resize(size);
      // The narrow panel needs more lines: the deciding words are at their ends.
      const body = page.locator('.verdict-body');
      await expect.poll(() => linesOf(body)).toBeLessThan((size.room?.lines ?? 0) + 0.3);
      expect(await clippedIn(body)).toEqual([]);
      await expect(page.getByTestId('account-bar')).toBeInViewport({ ratio: 1 });
    }
    const verdict = page.getByRole('status', { name: 'Verdict' });
    const whole = verdict.getByRole('button', { name: 'The whole verdict' });
    if (await whole.isVisible()) await whole.click();
    expect(await clippedIn(verdict)).toEqual([]);
    await screen.detach();
  });
}

const LONG_FILE = `/${'a_project_with_a_long_name/'.repeat(4)}train_the_second_stage_of_the_reward_model.py`;

/** A leak of 1 MiB per step at a line whose file name fits in no panel, as JSON. */
function leakOfLongNames() {
  const frame = (line: number, name: string) => ({ filename: LONG_FILE, line, name });
  const main = frame(1204, 'main');
  let addr = 2 ** 30;
  const device_traces = Array.from({ length: 24 }, () => {
    addr += 2 ** 21;
    const event = (action: string, line: number, at: number) => ({
      ...{ action, addr: at, size: 2 ** 20, stream: 0 },
      frames: [frame(line, 'accumulate_the_running_reward_of_every_sample'), main],
    });
    return [
      event('alloc', 1017, addr),
      event('alloc', 1018, addr + 2 ** 20),
      event('free_requested', 1018, addr + 2 ** 20),
      event('free_completed', 1018, addr + 2 ** 20),
    ];
  }).flat();
  const buffer = Buffer.from(JSON.stringify({ segments: [], device_traces: [device_traces] }));
  return { name: 'leak.json', mimeType: 'application/json', buffer };
}

test('at 1024 x 768 the line, the cause and the figures are fully visible at first', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  const verdict = page.getByRole('status', { name: 'Verdict' });
  const lead = page.getByTestId('findings').getByRole('button', { expanded: false }).nth(1);
  await openCapture(page, 'frag_gpt_varlen.pickle.gz');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await idle(page);
    await expect(verdict).toContainText('fragmentation: 10.50 GiB was reserved and never needed');
    const line = 'scenarios.py:47 (attention) asks for many sizes';
    await expect(verdict.getByRole('button', { name: line })).toBeInViewport({ ratio: 1 });
    expect(await clippedIn(verdict)).toEqual([]);
    // The total is beside the name, and says what it is.
    await expect(lead).toHaveText(/^HighFragmentation10\.50 GiB never needed/);
    expect(await clippedIn(lead)).toEqual([]);
    const [name, total] = [lead.getByText('Fragmentation'), lead.getByText('10.50 GiB').first()];
    const [besides, figure] = [await name.boundingBox(), await total.boundingBox()];
    expect(Math.abs((besides?.y ?? 0) - (figure?.y ?? 99))).toBeLessThan(6);
    // The moment that the verdict describes.
    const cursor = page.getByRole('region', { name: 'Cursor' });
    await expect(cursor).toContainText('Reserved 15.86 GiB');
    await expect(cursor).toContainText('Allocated 3.54 GiB');
    // The counters cover nothing of the plot.
    const plot = await page.getByTestId('timeline').boundingBox();
    for (const counter of ['Allocated', 'Active', 'Reserved', 'Requested', 'Inactive split']) {
      const box = await page.getByRole('button', { name: `${counter} line` }).boundingBox();
      expect((box?.y ?? 999) + (box?.height ?? 0), counter).toBeLessThanOrEqual(plot?.y ?? 0);
    }
  }
  await chooseFile(page, leakOfLongNames());
  await expect(page).toHaveTitle(/leak/);
  await expect(verdict).toContainText(
    '24.00 MiB of tensors are kept, 1.00 MiB more each iteration',
  );
  const place = verdict.getByRole('button', {
    name: /^train_the_second_stage_of_the_reward_model\.py:1017/,
  });
  await expect(place).toHaveText(/accumulate_the_running_reward_of_every_sample\) allocates it$/);
  await expect(place).toBeInViewport({ ratio: 1 });
  expect(await clippedIn(verdict)).toEqual([]);
  expect(await clippedIn(lead)).toEqual([]);
  await expect(lead).toContainText('24.00 MiB kept in all');
  expect(await cutOff(page)).toEqual([]);
  await verdict.getByRole('button', { name: 'The whole verdict' }).click();
  await expect(verdict.getByRole('region', { name: 'What to try first' })).toBeVisible();
});

/**
 * Elements that are wider than their box without scrolling or an ellipsis, and elements beyond the edge of the page.
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

test("the plot's tooltip does not cover the panel beside it", async ({ page }) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const at = await pointAt(page, 0.97, 0.1);
  await page.mouse.move(at.x, at.y);
  const tooltip = page.getByTestId('tooltip');
  await expect(tooltip).toBeVisible();
  const [box, plot] = [await tooltip.boundingBox(), await plotOf(page).boundingBox()];
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(
    (plot?.x ?? 0) + (plot?.width ?? 0),
  );
});
