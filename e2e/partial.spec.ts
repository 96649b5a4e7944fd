import { expect, type Page, test } from '@playwright/test';
import { type SlowHost, slowHost } from './slow-server.ts';
import { chooseFile, fixture, idle, unzipped } from './viewer.ts';

const TRAIN = unzipped('train_gpt_small.pickle.gz').buffer;

const picture = (page: Page) => page.getByTestId('partial-timeline');
const note = (page: Page) => page.getByTestId('partial-note');

/** How many events are shown, according to the page. */
async function eventsShown(page: Page): Promise<number> {
  const text = (await note(page).textContent()) ?? '';
  return Number(/([\d,]+) events/.exec(text)?.[1]?.replaceAll(',', ''));
}

/** Opens a file from a slow host, with a third of it sent, and waits until that part is visible. */
async function openSlowly(page: Page, host: SlowHost): Promise<void> {
  host.sendUpTo(0.35);
  await page.goto(`/?snapshot=${host.url}`);
  await expectPicture(page);
}

async function expectPicture(page: Page): Promise<void> {
  await expect(picture(page)).toBeVisible();
  await expect.poll(() => eventsShown(page)).toBeGreaterThan(1000);
}

/** Number of colors in the picture: an empty canvas has one. */
const colorsOf = (page: Page) =>
  picture(page).evaluate((canvas: HTMLCanvasElement) => {
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(pixels && new Uint32Array(pixels.buffer)).size;
  });

test('a slow file is shown while it arrives', async ({ page }) => {
  const host = await slowHost(TRAIN);
  try {
    await openSlowly(page, host);
    await expect(note(page)).toContainText('The rest is not shown yet');
    const progress = page.getByTestId('progress');
    await expect(progress).toContainText(/\d+ %/);
    await expect(progress.getByRole('button', { name: 'Cancel' })).toBeVisible();
    await expect.poll(() => colorsOf(page)).toBeGreaterThan(3);
    const before = await eventsShown(page);
    host.sendUpTo(0.6);
    await expect.poll(() => eventsShown(page)).toBeGreaterThan(before);
    // Everything sent has been read: from here on nothing moves by itself.
    await expect.poll(() => eventsShown(page)).toBe(6938);

    host.sendUpTo(1);
    await expect(page.getByTestId('timeline')).toBeVisible();
    await expect(picture(page)).toHaveCount(0);
    await idle(page);
    expect(await page.evaluate(() => window.vramscope?.marks())).toMatchObject({
      firstPixels: expect.any(Number),
      painted: expect.any(Number),
    });
  } finally {
    await host.close();
  }
});

test('a slow file is shown once the views are loaded, however late', async ({ page }) => {
  const host = await slowHost(TRAIN);
  let comes = () => {};
  const held = new Promise<void>((resolve) => {
    comes = resolve;
  });
  await page.route('**/workbench-*.js', async (route) => {
    await held;
    await route.continue();
  });
  try {
    host.sendUpTo(0.35);
    await page.goto(`/?snapshot=${host.url}`);
    // Everything sent has been read before the code that shows it arrives.
    await expect(page.getByTestId('progress')).toContainText(/35 %|[1-9][\d,]* events/);
    comes();
    await expectPicture(page);
  } finally {
    await host.close();
  }
});

test('a slow file can be cancelled, and another opened instead', async ({ page }) => {
  const host = await slowHost(TRAIN);
  try {
    await openSlowly(page, host);
    await page.getByTestId('cancel').click();
    await expect(picture(page)).toHaveCount(0);
    await expect(page.getByTestId('drop-zone')).toBeVisible();
    await chooseFile(page, fixture('two_devices.pickle.gz'));
    await expect(page.getByTestId('timeline')).toBeVisible();
  } finally {
    await host.close();
  }
});

test('a truncated file shows what was read, and says where it ends', async ({ page }) => {
  const cut = TRAIN.subarray(0, Math.floor(TRAIN.length * 0.8));
  const host = await slowHost(cut, 'cut.pickle');
  try {
    await openSlowly(page, host);
    host.sendUpTo(1);
    const error = page.getByTestId('error');
    await expect(error).toContainText('cut.pickle could not be read to its end');
    await expect(error).toContainText(`at byte ${cut.length.toLocaleString('en-US')}`);
    await expect(error).toContainText('copy the file again');
    await expect(note(page)).toContainText('Partial');
    const shown = (await eventsShown(page)).toLocaleString('en-US');
    await expect.poll(() => colorsOf(page)).toBeGreaterThan(3);
    await error.getByRole('button', { name: `Open the ${shown} complete events` }).click();
    await expect(page.getByTestId('timeline')).toBeVisible();
    await expect(picture(page)).toHaveCount(0);
  } finally {
    await host.close();
  }
});
