// @vitest-environment jsdom
import { act, screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { ClassifiedDetails } from '../../../device/classes/types.ts';
import { renderOn, type Shown } from '../../../testing/render-on.tsx';
import { DetailsPanel } from './details-panel.tsx';

/** A hook at line 338 keeps a clone of 8 MiB in each of 24 steps. */
const LEAK = 'pairs/leak_forward_hook.python';

interface Pinned extends Shown {
  readonly details: ClassifiedDetails;
}

/** Pins the first clone that the hook keeps. */
async function showKeptClone(): Promise<Pinned> {
  const shown = await renderOn(LEAK, <DetailsPanel />);
  const { session, commit } = shown;
  const step = { deviceIndex: 0, at: undefined, axis: 'event', windowFrom: 0 } as const;
  const request = { ...step, search: 'capture.py:338', selected: -1, isBackwards: false };
  const { allocation: index } = (await session.query('stepMatch', request)) ?? { allocation: -1 };
  const details = await session.query('allocation', { deviceIndex: 0, index });
  act(() => commit({ selection: details.label }));
  await screen.findByText('live at the end');
  return { ...shown, details };
}

/** The value beside a term. */
const fact = (term: string) => screen.getByText(term).nextElementSibling?.textContent;

it('says how to see something while nothing is pinned', async () => {
  await renderOn(LEAK, <DetailsPanel />);
  expect(
    within(screen.getByRole('complementary', { name: 'Details' })).getByText(/^Click a block/),
  );
});

it('shows what a block is, which line made it, and what else that line made', async () => {
  const { details } = await showKeptClone();
  expect(screen.getByRole('button', { name: 'Copy label' }).textContent).toContain(details.label);
  expect(fact('Requested')).toBe('8.00 MiB');
  expect(fact('Rounding loss')).toBe('nothing');
  expect(fact('Freed')).toBe('not in this trace');
  const stack = within(screen.getByRole('region', { name: 'Allocated by' }));
  expect(stack.getAllByRole('listitem')[0]?.textContent).toMatch(/save_features.*capture\.py:338/);
  const same = within(screen.getByRole('region', { name: 'Same stack' }));
  expect(same.getByRole('button', { name: '24, 192.00 MiB in all' })).toBeDefined();
  expect(same.getByText('24, 192.00 MiB')).toBeDefined();
});

it('filters all views by what is clicked, and clears the filter by a second click', async () => {
  const { user, view } = await showKeptClone();
  const pool = screen.getByRole('button', { name: 'large' });
  await user.click(pool);
  expect(view().search).toBe('pool:large');
  expect(pool.getAttribute('aria-pressed')).toBe('true');
  await user.click(pool);
  expect(view().search).toBe('');
});

it('puts the cursor at the event that allocated it, and unpins it', async () => {
  const { user, view, details } = await showKeptClone();
  await user.click(screen.getByRole('button', { name: /^event / }));
  expect(view().cursor).toBe(details.startEvent);
  await user.click(screen.getByRole('button', { name: 'Unpin' }));
  expect(view().selection).toBeUndefined();
  expect(screen.getByText(/^Click a block/)).toBeDefined();
});

it('says that a label of another snapshot does not exist in this one', async () => {
  const { commit } = await renderOn(LEAK, <DetailsPanel />);
  act(() => commit({ selection: 'b7f0000000000_3' }));
  expect(await screen.findByText(/is not an allocation of this snapshot/)).toBeDefined();
});

it('gives a lifetime that the trace does not cover as a lower bound', async () => {
  const { commit, session } = await renderOn('train_ring_truncated', <DetailsPanel />);
  const old = await session.query('allocation', { deviceIndex: 0, index: 0 });
  expect(old.preexisting).toBe(true);
  act(() => commit({ selection: old.label }));
  await screen.findByRole('button', { name: 'Copy label' });
  expect(fact('Allocated')).toBe('before the first event');
  expect(fact('Lifetime')).toMatch(/^≥ [\d,]+ events/);
});
