/**
 * Walks through all views like somebody who looks for a cause; and checks what each view says about a link or a file
 * that lacks something.
 */
import { expect, type Page, test } from '@playwright/test';
import { type PickleValue, sampleSnapshot, writePickle } from '../src/testing/write-pickle.ts';
import {
  chooseFile,
  cursorOf,
  expectShown,
  fixture,
  idle,
  openCapture,
  plotOf,
  searchOf,
  showView,
  tabsOf,
  VIEWS,
} from './viewer.ts';

async function show(page: Page, view: string): Promise<void> {
  await showView(page, view);
  await idle(page);
}

async function openAt(page: Page, hash: string, capture: string): Promise<void> {
  await page.goto(`/#${hash}`);
  await chooseFile(page, fixture(capture));
  await expect(page.getByTestId('view-tabs')).toBeVisible();
  await idle(page);
}

/** What all canvases of the view show, to the pixel. */
async function picture(page: Page): Promise<readonly string[]> {
  await idle(page);
  await page.mouse.move(0, 0);
  return page
    .locator('#view-picture canvas')
    .evaluateAll((all) => all.map((one) => (one as HTMLCanvasElement).toDataURL()));
}

/** Goes through all views: each shows something, or what is expected here, and none says that it failed. */
async function lookAround(
  page: Page,
  says: Readonly<Record<string, readonly (string | RegExp)[]>> = {},
): Promise<void> {
  const view = page.locator('#view-picture');
  // `all()` waits for nothing: before the file is open the list is empty, and every check of an empty list passes.
  await expect(tabsOf(page)).not.toHaveCount(0);
  for (const name of VIEWS) {
    await showView(page, name);
    await idle(page);
    const said = says[name] ?? [/\w/];
    for (const text of said) await expect(view).toContainText(text);
    await expect(view.getByRole('alert')).toHaveCount(0);
    await expect(view).not.toHaveText(/NaN|undefined|Infinity/);
  }
}

/** Fails the test if the page throws or logs an error. */
function noErrors(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return errors;
}

test('from the peak to a frame, to the timeline, to its events, and back by the link', async ({
  page,
}) => {
  const errors = noErrors(page);
  await openCapture(page, 'train_gpt_small.pickle.gz');
  await page.keyboard.press('p');
  await expect(cursorOf(page)).toContainText('Event 2,453');
  await show(page, 'Flame');
  const line = page.getByRole('row').filter({ hasText: 'scenarios.py:83' });
  await line.click();
  await page
    .getByRole('region', { name: 'Chosen frame' })
    .getByRole('button', { name: 'Filter to this' })
    .click();
  await expect(searchOf(page)).toHaveValue(/^frame:/);
  await show(page, 'Timeline');
  await expect(page.getByRole('search', { name: 'Search' })).toContainText(
    '681.64 MiB at the cursor',
  );
  const filtered = await picture(page);

  await show(page, 'Events');
  await expect(page.getByRole('region', { name: 'Events' })).toContainText(/of [\d,]+ events/);
  await page.goBack();
  await expect(plotOf(page)).toBeVisible();
  await expect.poll(() => picture(page)).toEqual(filtered);

  await page.reload();
  await chooseFile(page, fixture('train_gpt_small.pickle.gz'));
  await expect(plotOf(page)).toBeVisible();
  await expect(page.getByRole('search', { name: 'Search' })).toContainText(
    '681.64 MiB at the cursor',
  );
  await expect.poll(() => picture(page)).toEqual(filtered);
  await page.goBack();
  await expect(page.getByRole('region', { name: 'Flame graph' })).toBeVisible();
  await page.goForward();
  await expect(plotOf(page)).toBeVisible();
  expect(errors).toEqual([]);
});

test('one cursor, window, selection and search in all views', async ({ page }) => {
  const errors = noErrors(page);
  await openAt(page, 'v=1&at=6190&x=5000..6302&search=size%3E300MiB', 'oom_fragmented.pickle.gz');
  await page.getByRole('button', { name: 'Next match' }).click();
  await expect(page.getByTestId('details')).toContainText(/b7[0-9a-f]+_\d+/);
  await expect(page).toHaveURL(/select=b7/);
  const shared = (url: string) => {
    const params = new URLSearchParams(new URL(url).hash.slice(1));
    return ['at', 'x', 'select', 'search'].map((key) => params.get(key));
  };
  const expected = shared(page.url());
  expect(expected).not.toContain(null);
  for (const name of VIEWS) {
    await showView(page, name);
    await idle(page);
    await expectShown(page, name);
    await expect.poll(() => shared(page.url())).toEqual(expected);
    await expect(cursorOf(page)).toContainText('Event 6,190');
    await expect(searchOf(page)).toHaveValue('size>300MiB');
    await expect(page.getByTestId('details')).toBeVisible();
  }
  expect(errors).toEqual([]);
});

test('a link made for another snapshot, and an event that this one lacks', async ({ page }) => {
  await openAt(
    page,
    'v=1&view=allocator-state&at=99999999&of=123:other.pickle',
    'train_annotated.pickle.gz',
  );
  const about = page.getByRole('complementary', { name: 'About the link' });
  await expect(about).toContainText('made for other.pickle (123 bytes)');
  await expect(about).toContainText('event 99,999,999');
  await expect(cursorOf(page)).toContainText('the end');
  await expect(page.getByRole('row', { name: /Large pool/ })).toBeVisible();
  await about.getByRole('button', { name: 'Dismiss' }).click();
  await expect(about).toHaveCount(0);
});

test('an allocation and an address that do not exist', async ({ page }) => {
  await openAt(page, 'v=1&select=bdeadbeef000_0', 'train_annotated.pickle.gz');
  await expect(page.getByTestId('details')).toContainText('bdeadbeef000_0');
  await searchOf(page).fill('0xdeadbeef000');
  await expect(page.getByRole('search', { name: 'Search' })).toContainText('no match');
});

test('an invalid or catastrophic regex is reported, and every view still works', async ({
  page,
}) => {
  const errors = noErrors(page);
  await openCapture(page, 'train_annotated.pickle.gz');
  const outcome = page.getByRole('search', { name: 'Search' });
  await searchOf(page).fill('/forward(/');
  await expect(page.getByText('missing closing )').first()).toBeVisible();
  await expect(outcome).toContainText('invalid search');
  // A backtracking engine would be busy for longer than the test may take.
  await searchOf(page).fill('/(([a-z_]+)+)+%/');
  await expect(outcome).toContainText('no match');
  await lookAround(page);
  await outcome.getByRole('button', { name: 'Clear the search' }).click();
  await expect(searchOf(page)).toHaveValue('');
  expect(errors).toEqual([]);
});

/** The sample with each event and segment changed. */
function changedSample(change: (entry: Record<string, PickleValue>) => void) {
  const sample = JSON.parse(JSON.stringify(sampleSnapshot(20)));
  sample.device_traces[0].forEach(change);
  sample.segments.forEach(change);
  return { name: 'made.pickle', mimeType: '', buffer: Buffer.from(writePickle(sample)) };
}

const LACKING: readonly {
  readonly what: string;
  readonly file: () => Parameters<typeof chooseFile>[1];
  /** What each view says about it, by its tab. */
  readonly says: Readonly<Record<string, readonly (string | RegExp)[]>>;
}[] = [
  {
    what: 'without a trace',
    file: () => fixture('no_history.pickle.gz'),
    says: {
      Timeline: ['No history was recorded'],
      Addresses: ['No history was recorded on this device'],
      Segments: ['No history was recorded'],
      State: ['652.00 MiB', /Large pool/],
      Flame: ['This file has no call stacks.'],
      Events: ['No history was recorded'],
      Summary: [/Reserved memory\d/, 'events cannot be matched to annotations'],
      'What if': [
        'What if is not available',
        'This device has no recorded history, so there is nothing to simulate',
        '_record_memory_history()',
      ],
    },
  },
  {
    what: 'of a version that wrote segments alone',
    file: () => fixture('legacy_segments_list.pickle.gz'),
    says: { Timeline: ['No history was recorded'], Events: ['No history was recorded'] },
  },
  {
    what: 'without stacks',
    file: () =>
      changedSample((entry) => {
        delete entry.frames;
      }),
    says: { Flame: ['This file has no call stacks.'] },
  },
  {
    what: 'without times',
    file: () =>
      changedSample((entry) => {
        delete entry.time_us;
      }),
    says: {},
  },
];

for (const { what, file, says } of LACKING) {
  test(`a snapshot ${what}: every view says what it lacks`, async ({ page }) => {
    const errors = noErrors(page);
    await page.goto('/');
    await chooseFile(page, file());
    await lookAround(page, says);
    if (what === 'without times') await expectNoAxisOfTimes(page);
    expect(errors).toEqual([]);
  });
}

async function expectNoAxisOfTimes(page: Page): Promise<void> {
  await showView(page, 'Timeline');
  await expect(page.getByRole('button', { name: 'Time', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await expect(dialog.getByRole('button', { name: 'Trace for Perfetto' })).toBeDisabled();
  await expect(dialog).toContainText('this file has no timestamps');
}
