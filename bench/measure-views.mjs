/**
 * Every view of an open page: from the click to its picture, then the usual actions in it. Each step makes a new
 * query, because the page caches the latest answers.
 */
import { framesOf } from './gestures.mjs';
import { takeLongTasks, timed } from './page-probe.mjs';

const WHAT_IF_LIMIT_MS = 5 * 60_000;
const STEPS = 30;
const JUMPS = 12;
/** The search runs 150 ms after the last key (src/ui/panels/search/use-search.ts). */
const TYPING_PAUSE_MS = 250;

const WORDS = ['lm_loss', 'attention', 'backward size>1MiB', 'adam', 'train_gpt', '-forward'];
const REGEXES = ['/layer_?norm/', '/^at::native/', '/forward|backward/', '/(a+)+b/', '/loss$/'];
const COLUMNS = ['Lifetime', 'Size × lifetime', 'Code', 'Start', 'Waste', 'Block'];

/** In the order of their keys. The timeline is already open, and what-if is measured separately. */
const VIEWS = ['Addresses', 'Segments', 'State', 'Flame', 'Events', 'Allocations', 'Summary'];

/**
 * @param {import('@playwright/test').Page} page with the probe, showing a snapshot
 * @returns the input of results-table.mjs
 */
export async function measureViews(page) {
  const opening = {};
  const open = async (label) => {
    opening[label] = await timed(page, () => show(page, label));
  };
  await open('Addresses');
  const addresses = await measurePlot(page, 'Memory by address over time');
  await open('Segments');
  const segments = await measurePlot(page, 'Reserved memory over time');
  await open('State');
  const state = await measureState(page);
  await open('Flame');
  const flame = await measureFlame(page);
  await open('Events');
  const filter = await measureFilter(page);
  await open('Allocations');
  const sort = await measureSort(page);
  await open('Summary');
  await show(page, 'Timeline');
  const search = await measureSearch(page);
  const again = {};
  for (const label of VIEWS) again[label] = await timed(page, () => show(page, label));
  return { opening, again, addresses, segments, state, flame, filter, sort, search };
}

const KEYS = ['', 'Timeline', ...VIEWS, 'What if'];
const show = (page, label) =>
  page
    .locator('nav button')
    .first()
    .press(`${KEYS.indexOf(label)}`);

/** Frames while zooming and panning in x. Afterwards, the window is the whole trace again. */
async function measurePlot(page, name) {
  const plot = page.getByRole('application', { name });
  await takeLongTasks(page);
  const zoom = await framesOf(page, plot, 'zoom');
  const pan = await framesOf(page, plot, 'pan');
  const longTasksMs = await takeLongTasks(page);
  await plot.press('f');
  await page.evaluate(() => window.vramscope.whenIdle());
  return { zoom, pan, longTasksMs };
}

/** @param {number} count @param {(i: number) => Promise<unknown>} act one input each */
async function repeated(page, count, act, pauseMs = 0) {
  const steps = [];
  for (let i = 0; i < count; i++) steps.push(await timed(page, () => act(i), pauseMs));
  return steps;
}

/** Steps from event to event with the arrow key, then jumps across the trace as links do. */
async function measureState(page) {
  // Opens the event that a file without an OOM opens at anyway.
  await page.keyboard.press('p');
  await page.evaluate(() => window.vramscope.whenIdle());
  const steps = await repeated(page, STEPS, () => page.keyboard.press('ArrowRight'));
  const events = await eventCount(page);
  const jumps = await repeated(page, JUMPS, (i) => {
    // Alternates early and late, so that no state is near the previous one.
    const share = (i % 2 === 0 ? i + 1 : JUMPS + 1 - i) / (JUMPS + 1);
    return page.evaluate(
      (event) => {
        const hash = new URLSearchParams(location.hash.slice(1));
        hash.set('at', event);
        location.hash = String(hash);
      },
      Math.round(events * share),
    );
  });
  return { steps, jumps };
}

/** Reads 'Event 2,453of 11,632' in the cursor's bar. */
async function eventCount(page) {
  const text = await page.getByRole('region', { name: 'Cursor' }).textContent();
  const found = /of ([\d,]+)/.exec(text);
  if (found === null) throw new Error(`The cursor bar names no number of events: ${text}`);
  return Number(found[1].replaceAll(',', ''));
}

/** Starts with live at the peak. Every choice is new, except that the first callees use data already weighed. */
async function measureFlame(page) {
  const choose = (label, option) =>
    timed(page, () =>
      page.getByRole('combobox', { name: label, exact: true }).selectOption(option),
    );
  const turn = (label) => timed(page, () => page.getByRole('button', { name: label }).click());
  const byStack = [await choose('by', 'stack')];
  const inverted = [await turn('Callees'), await choose('by', 'function')];
  await turn('Callers');
  const others = [
    await choose('Show', 'end'),
    await choose('Show', 'window'),
    await choose('in', 'lifetime'),
  ];
  return { byStack, inverted, others };
}

async function measureFilter(page) {
  const chips = page.getByRole('group', { name: 'Actions' });
  const chip = (name) => () => chips.getByRole('button', { name }).click();
  const size = (label, text) => () => page.getByLabel(label).fill(text);
  const acts = [
    chip(/^alloc /),
    chip(/^free_completed /),
    size('Smallest size', '1MiB'),
    size('Largest size', '20MiB'),
    () => page.getByRole('button', { name: 'Clear', exact: true }).click(),
    () => page.getByRole('combobox', { name: 'Pool', exact: true }).selectOption('small'),
  ];
  const filter = await repeated(page, acts.length, (i) => acts[i]());
  await timed(page, () => page.getByRole('button', { name: 'Clear', exact: true }).click());
  return filter;
}

/** Clicks the header of each column. */
function measureSort(page) {
  const heading = (name) =>
    page.getByRole('columnheader', { name: new RegExp(`^${name}`) }).getByRole('button');
  return repeated(page, COLUMNS.length, (i) => heading(COLUMNS[i]).click());
}

/** In the timeline: until the count is shown and the rest of the picture is dimmed. */
async function measureSearch(page) {
  const box = page.getByTestId('search');
  await box.focus();
  await page.evaluate(() => window.vramscope.whenIdle());
  const type = (texts) => repeated(page, texts.length, (i) => box.fill(texts[i]), TYPING_PAUSE_MS);
  const words = await type(WORDS);
  const regexes = await type(REGEXES);
  await box.fill('');
  await box.press('Escape');
  return { words, regexes };
}

/**
 * The what-if view: ten settings, the smallest card for each, and the page's responsiveness meanwhile.
 * @param {import('@playwright/test').Page} page that shows a snapshot and records its long tasks
 */
export async function measureWhatIf(page) {
  await takeLongTasks(page);
  const startMs = Date.now();
  await show(page, 'What if');
  const isRun = () => {
    const table = document.querySelector('table[aria-label="Settings"]');
    return table !== null && !table.textContent.includes('not run yet');
  };
  await page.waitForFunction(isRun, undefined, { timeout: WHAT_IF_LIMIT_MS, polling: 100 });
  const settingsMs = Date.now() - startMs;
  await page.evaluate(() => window.vramscope.whenIdle());
  const longTasksMs = await takeLongTasks(page);
  return { settingsMs, cardsMs: Date.now() - startMs - settingsMs, longTasksMs };
}
