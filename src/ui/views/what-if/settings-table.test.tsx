// @vitest-environment jsdom
import { screen, within } from '@testing-library/react';
import { useMemo, useState } from 'react';
import { expect, it } from 'vitest';
import { truthOf } from '../../../testing/captures.ts';
import { renderOn, type Shown } from '../../../testing/render-on.tsx';
import { settingRows } from '../../panels/what-if/what-if-runs.ts';
import { useWhatIfRuns } from './runs.tsx';
import { SettingsTable } from './settings-table.tsx';

const CAPTURE = 'oom_fragmented';
const TRIED = ['', 'expandable_segments:True', 'max_split_size_mb:128', 'max_split_size_mb:64'];

const NONE: readonly string[] = [];

/** The table as the what-if view shows it, on real runs. */
function Table() {
  const settings = useMemo(() => TRIED, []);
  const { known, phase } = useWhatIfRuns(settings, 'recorded');
  const [chosen, setChosen] = useState('');
  if (known.recorded === undefined) return undefined;
  return (
    <>
      <SettingsTable
        recorded={known.recorded}
        recordedCard={known.cards.get('')}
        memory="no limit"
        rows={settingRows(known, 'recorded', settings)}
        chosen={chosen}
        tried={NONE}
        onChoose={setChosen}
      />
      {phase.kind === 'done' && <p>All have been run</p>}
    </>
  );
}

async function showTable(): Promise<Shown> {
  const shown = await renderOn(CAPTURE, <Table />);
  await screen.findByText('All have been run');
  return shown;
}

const rows = () => within(screen.getByRole('table', { name: 'Settings' })).getAllByRole('row');
/** Texts of a column below the recorded run, from the top. */
const column = (index: number) =>
  rows()
    .slice(2)
    .map((row) => [...row.children][index]?.textContent);

it('has the recorded run on top, with what the allocator itself counted', async () => {
  await showTable();
  const recorded = rows()[1] as HTMLElement;
  expect(within(recorded).getByRole('rowheader').textContent).toContain('As recorded');
  const stats = truthOf(`${CAPTURE}.pickle.gz`).stats[0];
  const cells = within(recorded)
    .getAllByRole('cell')
    .map(({ textContent }) => textContent);
  expect(cells[2]).toBe(String(stats?.num_ooms));
  expect(cells[3]).toBe(String(stats?.num_alloc_retries));
  const title = within(recorded)
    .getByTitle(/reserved/)
    .title.replaceAll(',', '');
  expect(title).toContain(`${stats?.['reserved_bytes.all.peak']} bytes`);
});

it('shows the best setting first, and which one would still fail', async () => {
  await showTable();
  expect(column(0)[0]).toBe('expandable_segments:True');
  const byDefault = rows().find((row) => row.textContent.includes('Default settings'));
  expect(within(byDefault as HTMLElement).getByTitle(/^Out of memory/)).toBeDefined();
});

it('sorts by a column up, down, and back to the best first', async () => {
  const { user } = await showTable();
  const best = column(0);
  const byName = [...best].sort();
  const header = screen.getByRole('columnheader', { name: 'Setting' });
  const button = within(header).getByRole('button');
  await user.click(button);
  expect(header.getAttribute('aria-sort')).toBe('ascending');
  const up = column(0);
  await user.click(button);
  expect(header.getAttribute('aria-sort')).toBe('descending');
  expect(column(0)).toEqual([...up].reverse());
  await user.click(button);
  expect(header.getAttribute('aria-sort')).toBe('none');
  expect(column(0)).toEqual(best);
  expect([...up].sort()).toEqual(byName);
});

it('chooses a setting by its row or its button', async () => {
  const { user } = await showTable();
  const choice = (name: string) => screen.getByRole<HTMLInputElement>('radio', { name });
  await user.click(choice('max_split_size_mb:128'));
  expect(choice('max_split_size_mb:128').checked).toBe(true);
  const row = rows().find((one) => one.textContent.includes('expandable_segments:True'));
  await user.click(within(row as HTMLElement).getAllByRole('cell')[0] as HTMLElement);
  expect(choice('expandable_segments:True').checked).toBe(true);
  expect(choice('max_split_size_mb:128').checked).toBe(false);
});

it('folds settings that would make no difference, unless one is chosen', async () => {
  const { user } = await showTable();
  expect(column(0)).toContain('Default settings');
  await user.click(screen.getByRole('radio', { name: 'expandable_segments:True' }));
  expect(column(0)).not.toContain('Default settings');
  await user.click(screen.getByRole('button', { name: 'show' }));
  expect(column(0)).toContain('Default settings');
  expect(column(0)).toContain('1 setting would make no difference: hide');
});
