// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { verdictOf } from '../../core/findings/verdict.ts';
import { renderOn, type Shown } from '../../testing/render-on.tsx';
import { BandsContext, createBandsStore } from '../plot/bands.ts';
import { useFindings, useFindingsRun } from '../shared/device-context.ts';
import { FindingsPanel } from './findings-panel.tsx';
import { useFindingBands } from './use-finding-bands.ts';

const bands = createBandsStore();

function Panel() {
  useFindingsRun();
  const { findings, checks } = useFindings();
  useFindingBands(findings, verdictOf({ findings, checks })?.findings[0]);
  return <FindingsPanel />;
}

function MarkedPanel() {
  return (
    <BandsContext value={bands}>
      <Panel />
    </BandsContext>
  );
}

/** A hook at line 338 keeps a clone of 8 MiB in each of 24 steps. */
const LEAK = 'pairs/leak_forward_hook.python';

/** The panel once every check is done. */
async function showFindings(name: string): Promise<Shown> {
  const shown = await renderOn(name, <MarkedPanel />);
  await screen.findByRole('button', { name: 'Copy all findings as Markdown' });
  return shown;
}

const findings = () => within(screen.getByRole('list', { name: /^Findings/ }));

it('leads with what grows, at which line, and what to try', async () => {
  const { user } = await showFindings(LEAK);
  const verdict = within(screen.getByRole('status', { name: 'Verdict' }));
  await user.click(verdict.getByRole('button', { name: 'The whole verdict' }));
  expect(verdict.getByText(/capture\.py:338.*8\.00 MiB/)).toBeDefined();
  const advice = within(verdict.getByRole('region', { name: 'What to try first' }));
  expect(advice.getAllByRole('listitem').length).toBeGreaterThan(0);
  expect(screen.queryByRole('progressbar')).toBeNull();
});

it('opens a finding and searches for its line, and leaves no trace of it when it is closed', async () => {
  const { user, view } = await showFindings(LEAK);
  const before = view();
  expect(before.cursor).toBeDefined();
  const head = findings().getByRole('button', { name: /by a hook.*192\.00 MiB/ });
  expect(screen.queryByText(/This may be wrong if/)).toBeNull();
  await user.click(head);
  expect(head.getAttribute('aria-expanded')).toBe('true');
  expect(view().cursor).not.toBe(before.cursor);
  expect(screen.getByText(/This may be wrong if/)).toBeDefined();
  expect(view().search).toContain('capture.py:338');
  await user.click(head);
  expect(head.getAttribute('aria-expanded')).toBe('false');
  expect(view()).toEqual(before);
});

it('marks what the verdict is about lightly, until one click takes the mark away', async () => {
  const { user } = await showFindings(LEAK);
  expect(bands.getState()).toMatchObject([{ style: 'growth', isLight: true }]);
  const mark = screen.getByRole('button', { name: 'Marked in the plots' });
  await user.click(mark);
  expect(bands.getState()).toEqual([]);
  // What is selected is drawn in any case, and as before.
  const head = findings().getByRole('button', { name: /by a hook/ });
  await user.click(head);
  expect(bands.getState()).toMatchObject([{ style: 'growth', isLight: false }]);
  await user.click(head);
  expect(bands.getState()).toEqual([]);
  await user.click(screen.getByRole('button', { name: 'Not marked in the plots' }));
  expect(bands.getState()).toMatchObject([{ style: 'growth', isLight: true }]);
});

it('pins the largest block of the evidence', async () => {
  const { user, session, view } = await showFindings(LEAK);
  await user.click(findings().getByRole('button', { name: /by a hook/ }));
  await user.click(screen.getByRole('button', { name: 'Largest of 24 blocks' }));
  await expect.poll(() => view().selection).toBeDefined();
  const label = view().selection ?? '';
  const index = await session.findAllocation({ deviceIndex: 0, label });
  const { blockBytes, topUserFrame } = await session.allocation({
    deviceIndex: 0,
    index: index ?? -1,
  });
  expect([blockBytes, topUserFrame?.line]).toEqual([8 * 2 ** 20, 338]);
});

it('leads from a check to what it found, and lists what is clear', async () => {
  const { user } = await showFindings(LEAK);
  const checks = within(screen.getByRole('list', { name: 'Checks' }));
  await user.click(checks.getByRole('button', { name: /leak/i }));
  const open = findings().getByRole('button', { expanded: true });
  expect(open.textContent).toContain('by a hook');
  expect(checks.getAllByText('clear').length).toBeGreaterThan(0);
  expect(checks.queryByText('not checked yet')).toBeNull();
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
