// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { expect, it } from 'vitest';
import { loadCapture } from '../../../testing/captures.ts';
import { contextsOf } from '../../../testing/contexts.ts';
import { renderOn } from '../../../testing/render-on.tsx';
import { SearchBox } from './search-box.tsx';

/** A hook at line 338 keeps a clone of 8 MiB in each of 24 steps. */
const CAPTURE = 'pairs/leak_forward_hook.python';

const box = () => screen.getByRole('combobox', { name: 'Search allocations' });

/** Blocks above 1 MiB, counted from the table itself. */
function largeBlocks(): number {
  const [{ replay }] = contextsOf(loadCapture(`${CAPTURE}.pickle.gz`));
  return replay.allocations.sizeBytes.filter((bytes) => bytes > 2 ** 20).length;
}

it('counts what it finds, and how much of it is live at the cursor, which starts at the peak', async () => {
  const { user, view } = await renderOn(CAPTURE, <SearchBox />);
  await user.type(box(), 'size>1MiB{Enter}');
  const count = largeBlocks().toLocaleString('en-US');
  const found = await screen.findByText(new RegExp(`\\b${count} · .* at the cursor$`));
  expect(found.getAttribute('aria-busy')).toBe('false');
  expect(view().search).toBe('size>1MiB');
});

it('steps from match to match, and says which one is pinned', async () => {
  const { user, view } = await renderOn(CAPTURE, <SearchBox />);
  const next = screen.getByRole<HTMLButtonElement>('button', { name: 'Next match' });
  expect(next.disabled).toBe(true);
  await user.type(box(), 'capture.py:338');
  // An answer to the first letters would start over.
  await screen.findByText(/^24 · /);
  await user.click(next);
  await screen.findByText(/^1 of 24 · /);
  const first = view().selection;
  await user.click(next);
  await screen.findByText(/^2 of 24 · /);
  expect(view().selection).not.toBe(first);
});

it('takes two steps for two quick presses', async () => {
  const { user } = await renderOn(CAPTURE, <SearchBox />);
  const next = screen.getByRole<HTMLButtonElement>('button', { name: 'Next match' });
  await user.type(box(), 'capture.py:338');
  await expect.poll(() => next.disabled).toBe(false);
  next.click();
  next.click();
  await screen.findByText(/^2 of 24 · /);
});

it('says what is wrong with a search, and where, once the box loses the focus', async () => {
  const { user } = await renderOn(CAPTURE, <SearchBox />);
  await user.type(box(), 'size>abc forward{Enter}');
  expect(await screen.findByText(/abc/, { selector: 'mark' })).toBeDefined();
  await user.tab();
  expect(screen.getByText('invalid search')).toBeDefined();
  expect(box().getAttribute('aria-invalid')).toBe('true');
});

it('says which term matches nothing', async () => {
  const { user } = await renderOn(CAPTURE, <SearchBox />);
  await user.type(box(), 'forward nosuchline.py{Enter}');
  expect(await screen.findByText('no match')).toBeDefined();
  expect(screen.getByText(/^nosuchline\.py matches nothing/)).toBeDefined();
});

it('offers terms, accepts one by keyboard, and is cleared by Escape', async () => {
  const { user, view } = await renderOn(CAPTURE, <SearchBox />);
  await user.type(box(), 'sta');
  const terms = within(screen.getByRole('listbox', { name: 'Terms' }));
  expect(terms.getAllByRole('option')[0]?.textContent).toMatch(/^state:/);
  await user.keyboard('{ArrowDown}{Tab}');
  expect(box()).toHaveProperty('value', 'state:');
  await user.click(await terms.findByRole('option', { name: /^state:live/ }));
  await user.keyboard('{Enter}');
  expect(view().search.trim()).toBe('state:live');
  await user.keyboard('{Escape}');
  expect(box()).toHaveProperty('value', '');
  expect(view().search).toBe('');
});
