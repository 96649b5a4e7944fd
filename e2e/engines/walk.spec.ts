/** What every engine must do: the walk of a user who opens a file, looks around and exports things. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@playwright/test';
import { addressOf, HOOK_LINE, serveWithCode } from '../served.ts';
import { controlsOf, unzipped, VIEWS } from '../viewer.ts';
import { test } from './fixtures.ts';
import { keepPlot, likeness } from './picture.ts';

const CAPTURE = 'train_gpt_small.pickle.gz';
const GZIP = resolve('fixtures', CAPTURE);
const SINGLE = pathToFileURL(resolve('dist-single/vramscope.html')).href;
const PLOT = { selector: '[data-testid=timeline]' };
const SUMMARY = '[aria-label=Summary]';
const tab = (text: string) => ({ selector: '[data-testid=view-tabs] button', text });
const exportOf = (text: string) => ({ selector: 'dialog[open] button', text });
const EXPORT = { selector: '.export-button' };

/** 1,356,627,456 bytes: PyTorch's own figure, in fixtures/train_gpt_small.truth.json. */
const PEAK = /Peak allocated1\.26 GiB/;

test('opens a pickle and a gzip alike, and shows them in every view; wheel, drag, pointer, click and search', async ({
  visitor,
  site,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-walk-'));
  const pickle = join(folder, 'train_gpt_small.pickle');
  writeFileSync(pickle, unzipped(CAPTURE).buffer);
  await visitor.visit(site.url);
  await visitor.open(pickle);
  const figures = await visitor.textOf(SUMMARY);
  expect(figures).toMatch(PEAK);
  await visitor.open(GZIP);
  expect(await visitor.textOf(SUMMARY)).toBe(figures);
  rmSync(folder, { recursive: true });

  // Every view shows the snapshot.
  for (const name of VIEWS) {
    for (const control of controlsOf(name)) {
      await visitor.click(control);
      const { selector, text } = control;
      await visitor.sees({
        text,
        selector: `${selector}:is([aria-current=page], [aria-pressed=true])`,
      });
    }
    await visitor.idle();
    // The engine renders and paints in its own time: a view whose code has just come may be blank still.
    const isPainted = async () => {
      const { text, colors } = await visitor.ask(contentOfView);
      return /\w/.test(text) && colors.every((count) => count > 1);
    };
    await expect.poll(isPainted, name).toBe(true);
    const { text, alerts } = await visitor.ask(contentOfView);
    expect(text, name).not.toMatch(/NaN|undefined|Infinity/);
    expect(alerts, name).toEqual([]);
  }

  await visitor.click(tab('Timeline'));
  await visitor.sees(PLOT);
  await visitor.idle();
  const middle = await visitor.placeIn(PLOT, 0.5, 0.8);
  await visitor.wheel(middle, -600);
  await expect.poll(() => visitor.url()).toMatch(/x=\d/);
  await visitor.idle();
  const zoomed = await visitor.url();
  await visitor.drag(middle, { ...middle, x: middle.x - 120 });
  await expect.poll(() => visitor.url()).not.toBe(zoomed);
  await visitor.idle();

  await visitor.hover({ ...middle, x: middle.x + 5 });
  await visitor.sees({ selector: '[data-testid=tooltip]', text: 'iB' });
  await visitor.clickAt(middle);
  await visitor.sees({ selector: '[data-testid=details]', text: 'Requested' });
  await expect.poll(() => visitor.url()).toMatch(/select=b[0-9a-f]+_\d+/);

  await visitor.type('/');
  await visitor.type('lm_loss size>60MiB');
  await visitor.sees({ selector: 'search', text: '12 · ' });
  await visitor.type(ENTER);
  await visitor.sees({ selector: 'search', text: ' of 12' });
  expect(await visitor.faults()).toEqual([]);
});

test('exports data, a picture that matches the page, and a report that opens from disk', async ({
  visitor,
  site,
}) => {
  await visitor.visit(site.url);
  await visitor.open(GZIP);
  const figures = await visitor.textOf(SUMMARY);
  const stem = CAPTURE.replace('.pickle.gz', '');
  await keepPlot(visitor);
  await visitor.click(EXPORT);
  const png = await visitor.saves(exportOf('Timeline as PNG'), `${stem}-timeline.png`);
  const { width, places, same, sameHigher } = await likeness(visitor, png.bytes);
  expect(width).toBeGreaterThan(1400);
  expect(places).toBeGreaterThan(5000);
  expect(same).toBeGreaterThan(0.95);
  expect(sameHigher).toBeLessThan(0.9);
  const csv = await visitor.saves(exportOf('Counters, CSV'), `${stem}.counters.csv`);
  // A header, the state before the first event, and 11,632 events.
  const lines = csv.bytes.toString().trimEnd().split(/\r?\n/);
  expect(lines[0]).toMatch(/^event,/);
  expect(lines).toHaveLength(11_634);
  const report = await visitor.saves(exportOf('Export report'), `${stem}.html`);
  expect(await visitor.faults()).toEqual([]);

  await visitor.visit(pathToFileURL(report.path).href);
  await visitor.sees(PLOT);
  await visitor.idle();
  expect(await visitor.textOf(SUMMARY)).toBe(figures);
  expect(await visitor.faults()).toEqual([]);
});

test('shows the code, who may hold what is kept, and the line in the editor, from a local server', async ({
  visitor,
}) => {
  const server = serveWithCode();
  try {
    await visitor.visit(await addressOf(server));
    await visitor.sees({ selector: '.code-excerpt [aria-current]', text: 'features.append' });
    await visitor.sees({ selector: '.may-be-held', text: 'capture.py:338' });
    const link = () => document.querySelector('.verdict a.icon-button')?.getAttribute('href');
    expect(await visitor.ask(link)).toBe(`vscode://file${HOOK_LINE}`);
    expect(await visitor.faults()).toEqual([]);
  } finally {
    server.kill();
  }
});

test('works from disk as one file', async ({ visitor }) => {
  await visitor.visit(SINGLE);
  await visitor.open(GZIP);
  expect(await visitor.textOf(SUMMARY)).toMatch(PEAK);
  await visitor.click(tab('Flame'));
  await visitor.idle();
  await visitor.sees({ selector: '[aria-label="Flame graph"]' });
  expect(await visitor.faults()).toEqual([]);
});

/** WebDriver's name for the key. */
const ENTER = '\uE007';

/** Runs in the page: what the view says, and how many colors each of its canvases has. */
function contentOfView() {
  const view = document.querySelector('#view-picture');
  const canvases = [...(view?.querySelectorAll('canvas') ?? [])].filter(
    (one) => one.clientWidth > 100 && one.clientHeight > 20,
  );
  return {
    text: view?.textContent ?? '',
    alerts: [...(view?.querySelectorAll('[role=alert]') ?? [])].map((one) => one.textContent),
    colors: canvases.map((one) => {
      const copy = document.createElement('canvas');
      Object.assign(copy, { width: one.width, height: one.height });
      const context = copy.getContext('2d');
      context?.drawImage(one, 0, 0);
      const pixels = context?.getImageData(0, 0, copy.width, copy.height).data.buffer;
      return new Set(new Uint32Array(pixels ?? new ArrayBuffer(0))).size;
    }),
  };
}
