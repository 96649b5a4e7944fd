import { describe, expect, it } from 'vitest';
import { FlameContext } from '../../../device/flame-graph/flame-context.ts';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import { contextsOf } from '../../../testing/contexts.ts';
import { flameGraphOf } from '../../../testing/flame-graph-of.ts';
import { snapshotFromText } from '../../../testing/snapshot-from-text.ts';
import { boxLabel } from './flame-labels.ts';
import { FlameLayout } from './flame-layout.ts';

import { flameQuery, selectedBox, selectionOf } from './use-flame.ts';

const DRAWN = snapshotFromText(`
  +seg 20Mi large @0x2000000
  +A 2Mi @/site-packages/torch/nn/linear.py:5 forward < train.py:3 step < main.py:1 main
  +B 4Mi @train.py:3 step < main.py:1 main
`);
const [CONTEXT] = contextsOf(DRAWN.snapshot);
const OPTIONS = { set: { kind: 'live', event: DRAWN.eventOf('+B') }, weight: 'bytes' } as const;
const layoutOf = (inverted: boolean, by: 'line' | 'function' = 'line') =>
  new FlameLayout(flameGraphOf(CONTEXT, OPTIONS, { inverted, by }));
const QUERY = flameQuery(DEFAULT_VIEW);
const LINES = { inverted: false } as const;
const MI = 2 ** 20;

function pathOf(layout: FlameLayout, level: number): string {
  return layout.pathOf(layout.levels[level][0]) ?? 'none';
}

describe('a box', () => {
  it('has its figures, its stack innermost first, and a search for its frame', () => {
    const layout = layoutOf(false);
    const selection = selectionOf({ kind: 'box', path: pathOf(layout, 3) }, layout, LINES);
    expect(selection).toMatchObject({
      label: 'forward',
      place: 'nn/linear.py:5',
      fullPlace: '/site-packages/torch/nn/linear.py:5',
      search: 'frame:"forward@/site-packages/torch/nn/linear.py:5"',
      value: 2 * MI,
      self: 2 * MI,
    });
    expect(selection?.frames?.map(({ name }) => name)).toEqual(['forward', 'step', 'main']);
  });

  it('has its stack in the same order if callees are on top', () => {
    const layout = layoutOf(true);
    const selection = selectionOf({ kind: 'box', path: pathOf(layout, 2) }, layout, {
      inverted: true,
    });
    expect(selection?.frames?.map(({ name }) => name)).toEqual(['step', 'main']);
    expect(selection?.self).toBeUndefined();
  });

  it('of a function has no single stack, because it has many lines', () => {
    const layout = layoutOf(false, 'function');
    const chosen = { kind: 'box', path: pathOf(layout, 3) } as const;
    const selection = selectionOf(chosen, layout, LINES);
    expect(selection).toMatchObject({ label: 'forward', frames: undefined });
  });

  it('that is gone gives nothing, and neither does the root', () => {
    const layout = layoutOf(false);
    expect(selectionOf({ kind: 'box', path: 'gone' }, layout, LINES)).toBeUndefined();
    expect(selectionOf({ kind: 'box', path: '' }, layout, LINES)).toBeUndefined();
    expect(selectedBox({ kind: 'box', path: '' }, layout, false)).toBe(layout.root);
    expect(selectedBox(undefined, layout, false)).toBeUndefined();
  });
});

describe('a row', () => {
  const rowsBy = (by: 'stack' | 'function') =>
    new FlameContext(CONTEXT)
      .flame({ groupBy: by, frames: 'known' }, OPTIONS)
      .rows.page({ by: 'total', descending: false }, 0, 9).rows;

  it('of a call stack is found by the user’s line and the innermost one', () => {
    const layout = layoutOf(false);
    const [row] = rowsBy('stack');
    const selection = selectionOf({ kind: 'row', row, query: QUERY }, layout, LINES);
    expect(selection).toMatchObject({
      label: 'step → forward',
      place: 'train.py:3',
      search: 'frame:"step@train.py:3" frame:"forward@/site-packages/torch/nn/linear.py:5"',
      value: 2 * MI,
    });
    for (const inverted of [false, true]) {
      const turned = layoutOf(inverted);
      const box = selectedBox({ kind: 'row', row, query: QUERY }, turned, inverted);
      expect(box && boxLabel(box)).toBe(inverted ? 'main' : 'forward');
      expect(box?.depth).toBe(3);
    }
  });

  it('of a function has no line, and is in many boxes', () => {
    const layout = layoutOf(false);
    const [row] = rowsBy('function');
    expect(selectionOf({ kind: 'row', row, query: QUERY }, layout, LINES)).toMatchObject({
      label: 'forward',
      fullPlace: '/site-packages/torch/nn/linear.py',
      search: '"forward" "/site-packages/torch/nn/linear.py"',
    });
    expect(selectedBox({ kind: 'row', row, query: QUERY }, layout, false)).toBeUndefined();
  });
});
