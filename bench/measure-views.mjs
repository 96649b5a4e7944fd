/**
 * Every view of an open page: from the click to its picture, and then what one does in it. Each step
 * asks what was not asked before: the page keeps the last few answers.
 */
import { framesOf } from './gestures.mjs';
import { takeLongTasks, timed } from './page-probe.mjs';

const WHAT_IF_LIMIT_MS = 5 * 60_000;
const STEPS = 30;
const JUMPS = 12;
/** The search follows the typing 150 ms later (src/ui/panels/search/use-search.ts). */
const TYPING_PAUSE_MS = 250;

const WORDS = ['lm_loss', 'attention', 'backward size>1MiB', 'adam', 'train_gpt', '-forward'];
const REGEXES = ['/layer_?norm/', '/^at::native/', '/forward|backward/', '/(a+)+b/', '/loss$/'];
const COLUMNS = ['Lifetime', 'Size × lifetime', 'Code', 'Start', 'Waste', 'Block'];

/** By what stands on their tabs; the timeline is there from the start, what-if has its own measure. */
const VIEWS = ['Addresses', 'Segments', 'State', 'Flame', 'Events', 'Allocations', 'Summary'];

/**
 * @param {import('@playwright/test').Page} page with the probe, that shows a snapshot
 * @returns what results-views.mjs shows
 */
export async function measureViews(page) {
  const opening = {};
  const open = async (label) => {
    opening[label] = await timed(page, () => tab(page, label).click());
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
  await tab(page, 'Timeline').click();
  const search = await measureSearch(page);
  const again = {};
  for (const label of VIEWS) again[label] = await timed(page, () => tab(page, label).click());
  return { opening, again, addresses, segments, state, flame, filter, sort, search };
}

const tab = (page, label) =>
  page.getByTestId('view-tabs').getByRole('button', { name: label, exact: true });

/** Frames while one zooms and pans in x; the window is the whole trace again afterwards. */
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

/** From event to event by the arrow key, and to places all over the trace as a link leads to them. */
async function measureState(page) {
  // Where a file without an OOM opens anyway.
  await page.keyboard.press('p');
  await page.evaluate(() => window.vramscope.whenIdle());
  const steps = await repeated(page, STEPS, () => page.keyboard.press('ArrowRight'));
  const events = await eventCount(page);
  const jumps = await repeated(page, JUMPS, (i) => {
    // Now early, now late: no state is near the one before.
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

/** 'Event 2,453of 11,632' in the bar of the cursor. */
async function eventCount(page) {
  const text = await page.getByRole('region', { name: 'Cursor' }).textContent();
  const found = /of ([\d,]+)/.exec(text);
  if (found === null) throw new Error(`The cursor bar names no number of events: ${text}`);
  return Number(found[1].replaceAll(',', ''));
}

/** Live at the peak first; each choice is a new one, but the first callees, of what is weighed already. */
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

/** A click on the head of each column. */
function measureSort(page) {
  const heading = (name) =>
    page.getByRole('columnheader', { name: new RegExp(`^${name}`) }).getByRole('button');
  return repeated(page, COLUMNS.length, (i) => heading(COLUMNS[i]).click());
}

/** In the timeline: from the question to its count, and the rest of the picture dimmed. */
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
 * The what-if view: ten settings run, their smallest cards searched, the page meanwhile.
 * @param {import('@playwright/test').Page} page that shows a snapshot, and keeps its long tasks
 */
export async function measureWhatIf(page) {
  await takeLongTasks(page);
  const startMs = Date.now();
  await tab(page, 'What if').click();
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
