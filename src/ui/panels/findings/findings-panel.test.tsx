// @vitest-environment jsdom
import { act, screen, within } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { formatCount } from '../../../base/format.ts';
import { renderOn, type Shown } from '../../../testing/render-on.tsx';
import { createOverlayStore, OverlaysContext } from '../../plot/plot-source.ts';
import { useFindings, useFindingsRun } from '../../shared/services.ts';
import { useJudgementInViews } from './account-parts.ts';
import { FindingsPanel } from './findings-panel.tsx';
import { useFindingHighlights } from './show-finding.ts';

// jsdom has no color schemes.
vi.hoisted(() => {
  const none = {
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  };
  window.matchMedia = () => none as unknown as MediaQueryList;
});

const overlays = createOverlayStore();

function Panel() {
  useFindingsRun();
  const { findings, judgement } = useFindings();
  const lead = judgement?.verdict.finding;
  useJudgementInViews();
  useFindingHighlights(
    findings,
    findings.find(({ fingerprint }) => fingerprint === lead),
  );
  return <FindingsPanel />;
}

function HighlightedPanel() {
  return (
    <OverlaysContext value={overlays}>
      <Panel />
    </OverlaysContext>
  );
}

/** A hook at line 338 keeps a clone of 8 MiB in each of 24 steps. */
const LEAK = 'pairs/leak_forward_hook.python';

/** The panel once every check is done. */
async function showFindings(name: string): Promise<Shown> {
  const shown = await renderOn(name, <HighlightedPanel />);
  // By label: looking up roles is slow, and repeats after each check.
  await screen.findByLabelText('Copy all findings as Markdown');
  return shown;
}

const findings = () => within(screen.getByRole('list', { name: /^Findings/ }));

it('leads with what grows, at which line, and what to try', async () => {
  const { user } = await showFindings(LEAK);
  const verdict = within(screen.getByRole('status', { name: 'Verdict' }));
  await user.click(verdict.getByRole('button', { name: 'The whole verdict' }));
  expect(verdict.getByText(/capture\.py:338.*8\.00 MiB more each step/)).toBeDefined();
  const advice = within(verdict.getByRole('region', { name: 'What to try first' }));
  expect(advice.getAllByRole('listitem').length).toBeGreaterThan(0);
  expect(screen.queryByRole('progressbar')).toBeNull();
});

it('copies what another setting would have done, once it has been simulated', async () => {
  const { user } = await showFindings('oom_fragmented');
  await user.click(findings().getAllByRole('button', { name: /ran out of memory/ })[0]);
  await screen.findByText(/^would have served the request/, { exact: false });
  await user.click(screen.getByLabelText('Copy all findings as Markdown'));
  const copied = await navigator.clipboard.readText();
  expect(copied).toContain('Simulated: expandable\\_segments:True would have served the request');
});

it('leads with the leak that an OOM came from, and with its advice', async () => {
  const { user } = await showFindings('pairs/oom_leak.all');
  const status = screen.getByRole('status', { name: 'Verdict' });
  const verdict = within(status);
  expect(status.textContent).toContain(
    'Out of memory: 3.84 GiB of tensors are kept, 96.00 MiB more each step.',
  );
  expect(verdict.getAllByRole('listitem')).toHaveLength(1);
  expect(verdict.getByRole('button', { name: /^capture\.py:613/ })).toBeDefined();
  await user.click(verdict.getByRole('button', { name: 'The whole verdict' }));
  expect(status.textContent).toMatch(
    /^Out of memory: tensors that capture\.py:613 \(oom_leak\) allocates are kept: 3\.84 GiB of the/,
  );
  const advice = within(verdict.getByRole('region', { name: 'What to try first' }));
  const [first, ...more] = advice.getAllByRole('listitem');
  expect(first?.textContent).toMatch(
    /Saves up to .* GiB, which would be enough for this request\./,
  );
  expect(more.length).toBeGreaterThan(0);
  await user.click(verdict.getByRole('button', { name: /^Out of memory/ }));
  const opened = await screen.findAllByText('What to try');
  const cards = opened.map((heading) => heading.closest('li')?.textContent);
  expect(cards).toContainEqual(expect.stringContaining('capture.py:613'));
});

it.each([
  ['train_gpt_small', 'calm', 'No out-of-memory error, and no problem found.'],
  [
    'pairs/oom_caught_and_halved.all',
    'warning',
    'Out of memory, caught 2 times: one request of 500.00 MiB did not fit',
  ],
])('says how bad %s is: %s', async (name, tone, text) => {
  await showFindings(name);
  const verdict = screen.getByRole('status', { name: 'Verdict' });
  expect(verdict.textContent).toContain(text);
  expect(verdict.dataset.tone).toBe(tone);
});

it.each([
  ['oom_fragmented', true],
  [LEAK, false],
])('says before any click that %s hit a limit of its own: %s', async (name, isShown) => {
  await showFindings(name);
  const said = screen.queryAllByText(/the limit set for this process is at least 6\.00 GiB/);
  expect(said).toHaveLength(Number(isShown));
});

it('opens a finding and searches for its blocks, and undoes both when it is closed', async () => {
  const { user, view } = await showFindings(LEAK);
  const before = view();
  expect(before.cursor).toBeDefined();
  const head = findings().getByRole('button', { name: /by a hook.*192\.00 MiB/ });
  expect(screen.queryByText(/What would disprove it/)).toBeNull();
  await user.click(head);
  expect(head.getAttribute('aria-expanded')).toBe('true');
  expect(view().cursor).not.toBe(before.cursor);
  expect(screen.getByText(/What would disprove it/)).toBeDefined();
  expect(view().search).toBe('part:growth-1');
  await user.click(head);
  expect(head.getAttribute('aria-expanded')).toBe('false');
  expect(view()).toEqual(before);
});

it('lightly highlights what the verdict is about, until one click removes it', async () => {
  const { user } = await showFindings(LEAK);
  expect(overlays.getState().highlights).toMatchObject([{ style: 'growth', isLight: true }]);
  const button = screen.getByRole('button', { name: 'Highlighted in the plots' });
  await user.click(button);
  expect(overlays.getState().highlights).toEqual([]);
  // A selected finding is drawn in any case, and as before.
  const head = findings().getByRole('button', { name: /by a hook/ });
  await user.click(head);
  expect(overlays.getState().highlights).toMatchObject([{ style: 'growth', isLight: false }]);
  await user.click(head);
  expect(overlays.getState().highlights).toEqual([]);
  await user.click(screen.getByRole('button', { name: 'Not highlighted in the plots' }));
  expect(overlays.getState().highlights).toMatchObject([{ style: 'growth', isLight: true }]);
});

it('pins the largest block of the evidence', async () => {
  const { user, session, view } = await showFindings(LEAK);
  await user.click(findings().getByRole('button', { name: /by a hook/ }));
  await user.click(screen.getByRole('button', { name: 'Select the largest of 24 blocks' }));
  await expect.poll(() => view().selection).toBeDefined();
  const label = view().selection ?? '';
  const index = await session.query('findAllocation', { deviceIndex: 0, label });
  const { blockBytes, topUserFrame } = await session.query('allocation', {
    deviceIndex: 0,
    index: index ?? -1,
  });
  expect([blockBytes, topUserFrame?.line]).toEqual([8 * 2 ** 20, 338]);
});

it('says what was checked once it is unfolded', async () => {
  const { user } = await showFindings(LEAK);
  await user.click(screen.getByText('What was checked'));
  const checks = within(screen.getByRole('list', { name: 'Checks' }));
  expect(checks.getAllByText('Clear').length).toBeGreaterThan(0);
  expect(checks.getByText(/^Tensors that a program keeps/)).toBeDefined();
});

const rows = () => within(screen.getByRole('list', { name: 'Parts of the reserved memory' }));
/** The sum of '201,326,592 bytes' and the like over all rows. */
const exactBytes = (elements: readonly HTMLElement[]): number =>
  elements
    .map(({ title }) => Number(/^([\d,]+) bytes/.exec(title)?.[1]?.replaceAll(',', '')))
    .reduce((sum, bytes) => sum + bytes, 0);

it.each(['oom_fragmented', 'leak_output_list', 'no_history', 'train_gpt_small'])(
  'accounts for every reserved byte of %s at its moment',
  async (name) => {
    const { session, view } = await showFindings(name);
    const account = screen.getByRole('region', { name: 'Where the memory is' });
    const [total] = within(account).getAllByTitle(/ bytes/);
    // The row of smaller entries shows their sum, and contains a row for each.
    const buttons = rows().getAllByRole('button');
    const figures = buttons.map((row) => within(row).getByTitle(/ bytes$/));
    expect(total && exactBytes([total])).toBe(exactBytes(figures));
    if (view().cursor === undefined) return;
    const event = Number(
      /event ([\d,]+)/.exec(account.textContent ?? '')?.[1]?.replaceAll(',', ''),
    );
    const { counters } = await session.query('crosshair', { deviceIndex: 0, event });
    expect(exactBytes(figures)).toBe(counters.reservedBytes);
  },
);

it('filters all views to the blocks of a row, and the search finds as many bytes', async () => {
  const { user, session, view } = await showFindings('leak_loss_graph');
  const row = rows().getByRole('button', { name: /^kept autograd graphs/ });
  await user.click(row);
  await expect.poll(() => view().search).toBe('part:kept-graph');
  expect(row.getAttribute('aria-pressed')).toBe('true');
  const { search, cursor } = view();
  const summary = await session.query('searchSummary', { deviceIndex: 0, search, at: cursor });
  expect(summary.cursorBytes).toBe(exactBytes([within(row).getByTitle(/ bytes$/)]));
  // Another row replaces it; a class with the same bytes is searched by the legend's name.
  await user.click(rows().getByRole('button', { name: /^optimizer state/ }));
  await expect.poll(() => view().search).toBe('class:optimizer-state');
  await user.click(rows().getByRole('button', { name: /^optimizer state/ }));
  await expect.poll(() => view().search).toBe('');
});

it('accounts for the moment of the cursor, wherever it is', async () => {
  const { user, session, commit, view } = await showFindings('leak_loss_graph');
  const account = within(screen.getByRole('region', { name: 'Where the memory is' }));
  await user.click(account.getByRole('button', { name: 'At the cursor' }));
  for (const event of [4000, 9000]) {
    act(() => commit({ cursor: event }));
    await account.findByRole('button', { name: `event ${formatCount(event)}` });
    const [total] = account.getAllByTitle(/ bytes/);
    const { counters } = await session.query('crosshair', { deviceIndex: 0, event });
    expect(total && exactBytes([total])).toBe(counters.reservedBytes);
  }
  await user.click(rows().getByRole('button', { name: /^kept autograd graphs/ }));
  await expect.poll(() => view().search).toBe('part:kept-graph@cursor');
  expect(view().cursor).toBe(9000);
});

it('says where the legend counts the bytes of a row', async () => {
  await showFindings('leak_loss_graph');
  const graphs = rows().getByRole('button', { name: /^kept autograd graphs/ });
  expect(graphs.textContent).toMatch(/By class: .* kept/);
});

it('puts the cursor where the verdict looks, unless it has been moved', async () => {
  const { view } = await showFindings('pairs/growing_concat.python');
  const account = within(screen.getByRole('region', { name: 'Where the memory is' }));
  const { textContent } = account.getByRole('button', { name: /^event / });
  expect(textContent).toBe(`event ${formatCount(view().cursor ?? -1)}`);
});

it('leads from a verdict without a finding to its row of the account', async () => {
  const { user, view } = await showFindings(
    'pairs/settings/expandable_segments_True_large_segment_size_mb_64/growing_concat',
  );
  const verdict = within(screen.getByRole('status', { name: 'Verdict' }));
  await user.click(verdict.getByRole('button', { name: /replaced by larger ones/ }));
  await expect.poll(() => view().search).toMatch(/^(part:growing|class:growing-state)$/);
});

it('leads from the line that a calm verdict names to its blocks', async () => {
  const { user, view, session, commit } = await showFindings('train_gpt_small');
  const verdict = within(screen.getByRole('status', { name: 'Verdict' }));
  expect(verdict.getByText(/At the peak [\d.]+ GiB was in use, the most of it/)).toBeDefined();
  const name =
    /^scenarios\.py:\d+ \(\w+\) allocates the most of your lines at the peak: [\d.]+ MiB/;
  await user.click(verdict.getByRole('button', { name }));
  await expect.poll(() => view().search).toBe('part:most');
  // The account at the cursor names its parts anew, and must not forget this one.
  const countOf = async () => {
    const { search, cursor: at } = view();
    return (await session.query('searchSummary', { deviceIndex: 0, search, at })).cursorBytes;
  };
  const before = await countOf();
  expect(before).toBeGreaterThan(0);
  const account = within(screen.getByRole('region', { name: 'Where the memory is' }));
  await user.click(account.getByRole('button', { name: 'At the cursor' }));
  act(() => commit({ cursor: 9 }));
  await account.findByRole('button', { name: 'event 9' });
  await user.click(verdict.getByRole('button', { name }));
  await expect.poll(countOf).toBe(before);
});

it('leads from gaps to the address map at that moment', async () => {
  const { user, view } = await showFindings('oom_fragmented');
  await user.click(rows().getByRole('button', { name: /^gaps between blocks/ }));
  expect(view()).toMatchObject({ view: 'address-map', search: '' });
});

it('puts the most severe finding of a run that died first', async () => {
  await showFindings('oom_fragmented');
  const severities = findings()
    .getAllByRole('button', { expanded: false })
    .map((button) => /^(High|Medium|Low)/.exec(button.textContent)?.[0]);
  const grades = ['High', 'Medium', 'Low'];
  expect(severities[0]).toBe('High');
  expect(severities).toEqual(
    [...severities].sort((a = '', b = '') => grades.indexOf(a) - grades.indexOf(b)),
  );
});
