/** Frame times of a plot while zooming and panning: real input, at the rate of a mouse. */

const INPUTS = 60;
/** Typical interval between events of a wheel or a mouse. */
const INPUT_EVERY_MS = 16;

const GESTURES = { zoom: zoomInAndOut, pan: dragAbout };

/**
 * Frame times during a gesture, from the input event to the pixels.
 * @param {import('@playwright/test').Page} page with the probe
 * @param {import('@playwright/test').Locator} plot
 * @param {keyof typeof GESTURES} gesture
 */
export async function framesOf(page, plot, gesture) {
  await page.evaluate(() => {
    window.bench.frames.length = 0;
  });
  const box = await plot.boundingBox();
  await GESTURES[gesture](page, { x: box.x + box.width / 2, y: box.y + box.height / 2 });
  await page.evaluate(() => window.vramscope.whenIdle());
  const durations = await page.evaluate(() => window.bench.frames);
  durations.sort((a, b) => a - b);
  const at = (share) =>
    durations[Math.min(durations.length - 1, Math.floor(durations.length * share))];
  return { frames: durations.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: durations.at(-1) };
}

async function zoomInAndOut(page, { x, y }) {
  await page.mouse.move(x, y);
  for (let i = 0; i < INPUTS; i++) {
    await page.mouse.wheel(0, i < INPUTS * 0.6 ? -100 : 100);
    await page.waitForTimeout(INPUT_EVERY_MS);
  }
}

async function dragAbout(page, { x, y }) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 0; i < INPUTS; i++) {
    await page.mouse.move(x + 200 * Math.sin(i / 8), y);
    await page.waitForTimeout(INPUT_EVERY_MS);
  }
  await page.mouse.up();
}
