import { describe, expect, it } from 'vitest';
import { type RankedFinding, rankFindings } from '../../../analysis/findings/ranked-findings.ts';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import { analysisOf } from '../../../testing/analysed.ts';
import { loadCapture } from '../../../testing/captures.ts';
import { contextsOf } from '../../../testing/contexts.ts';
import { firstSentence, splitSentence } from './finding-card.tsx';
import { highlightsOf, leftFinding, selectedFinding, shownIn } from './show-finding.ts';

async function found(name: string): Promise<readonly RankedFinding[]> {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  if (context === undefined) throw new Error(`${name} has no device`);
  return rankFindings((await analysisOf(context)).findings);
}

async function first(name: string): Promise<RankedFinding> {
  const [finding] = await found(name);
  if (finding === undefined) throw new Error(`Nothing found in ${name}`);
  return finding;
}

describe('ranking', () => {
  it('puts the most severe first, then the largest', async () => {
    const findings = await found('oom_fragmented');
    const order = findings.map(({ severity, bytes }) => [severity, bytes] as const);
    const grades = ['high', 'medium', 'low'];
    const sorted = [...order].sort(
      (a, b) => grades.indexOf(a[0]) - grades.indexOf(b[0]) || b[1] - a[1],
    );
    expect(order).toEqual(sorted);
    expect(findings[0]?.severity).toBe('high');
  });

  it('gives findings with one fingerprint different names, by event, in any order', async () => {
    const oom = await first('oom_batch_too_big');
    const at = (event: number) => ({ ...oom, events: { first: event, last: event } });
    const idAt = (findings: readonly RankedFinding[]) =>
      new Map(findings.map(({ id, events }) => [events.first, id]));
    const expected = new Map([
      [10, oom.fingerprint],
      [20, `${oom.fingerprint}#2`],
      [30, `${oom.fingerprint}#3`],
    ]);
    expect(idAt(rankFindings([at(10), at(20), at(30)]))).toEqual(expected);
    expect(idAt(rankFindings([at(30), at(10), at(20)]))).toEqual(expected);
    // As they stream in, earlier ones are named again.
    expect(idAt(rankFindings([...rankFindings([at(20), at(10)]), at(30)]))).toEqual(expected);
  });
});

describe('showing a finding', () => {
  it('searches for its blocks, puts the cursor at its end, and highlights it', async () => {
    const leak = await first('leak_forward_hook');
    const change = selectedFinding(leak, DEFAULT_VIEW);
    expect(change.finding).toBe(leak.id);
    expect(change.search).toBe('part:growth-1');
    expect(change.cursor).toBe(leak.moment);
    expect(highlightsOf(leak, false)).toEqual([
      {
        fromEvent: leak.events.first,
        toEvent: leak.events.last + 1,
        style: 'growth',
        label: 'grows',
        isLight: false,
        search: '',
      },
    ]);
    const [gap] = highlightsOf(await first('frag_gpt_varlen'), true);
    expect(gap).toMatchObject({ style: 'gap', isLight: true });
    // The blocks that selecting the finding would search for are highlighted from the start.
    expect(highlightsOf(leak, true)).toMatchObject([{ search: change.search }]);
    const [oom] = highlightsOf(await first('oom_batch_too_big'), true);
    expect(oom).toMatchObject({ style: 'oom', search: '' });
  });

  it('searches for nothing if the evidence is everything alive', async () => {
    const oom = await first('oom_batch_too_big');
    expect(selectedFinding(oom, DEFAULT_VIEW)).toMatchObject({
      search: '',
      cursor: oom.events.last,
    });
  });

  it('leaves the window alone, unless the evidence is outside of it', async () => {
    const leak = await first('leak_forward_hook');
    const inside = { ...DEFAULT_VIEW, x: { from: leak.events.first, to: leak.events.last } };
    expect(selectedFinding(leak, inside)).not.toHaveProperty('x');
    const before = { ...DEFAULT_VIEW, x: { from: 0, to: leak.events.first } };
    expect(selectedFinding(leak, before).x).toBe('all');
  });

  it('undoes what it set, but not what the user did since', async () => {
    const leak = await first('leak_forward_hook');
    const shown = { ...DEFAULT_VIEW, ...selectedFinding(leak, DEFAULT_VIEW) };
    expect({ ...shown, ...leftFinding(leak, shown, DEFAULT_VIEW.cursor) }).toEqual(DEFAULT_VIEW);
    const searched = { ...shown, search: 'attention', cursor: 7 };
    expect(leftFinding(leak, searched, 3)).toEqual({ finding: undefined });
    expect(leftFinding(leak, shown, 3).cursor).toBe(3);
  });

  it('goes to its events in the timeline, or shows everything if they are most of the trace', async () => {
    const oom = await first('oom_batch_too_big');
    const change = shownIn('timeline', oom, 1_000_000);
    if (change.x === undefined || change.x === 'all') throw new Error('a window was expected');
    expect(change.x.from).toBeLessThan(oom.events.first);
    expect(change.x.to).toBeGreaterThan(oom.events.last);
    expect(change.x.to - change.x.from).toBeLessThan(20_000);
    const leak = await first('leak_forward_hook');
    expect(shownIn('timeline', leak, leak.events.last + 1).x).toBe('all');
    expect(shownIn('flame-graph', leak, 10).flame?.dataset).toBe('cursor');
  });
});

describe('words', () => {
  it('splits after the first sentence, not within a file name', () => {
    expect(splitSentence('a.py:3 (f) keeps 2.00 KiB every step. It is …')).toEqual([
      'a.py:3 (f) keeps 2.00 KiB every step.',
      'It is …',
    ]);
    expect(splitSentence('One alone.')).toEqual(['One alone.', '']);
  });

  it('ends the first sentence at its stop, not at a colon', () => {
    const text = '6.00 GiB was reserved: 3.59 GiB was lost. a.py:3 (f) pins the most.';
    expect(firstSentence(text)).toBe('6.00 GiB was reserved: 3.59 GiB was lost.');
    expect(firstSentence('One alone.')).toBe('One alone.');
  });
});
