import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocatorProgram } from '../../../testing/arbitrary-program.ts';
import { loadCapture } from '../../../testing/captures.ts';
import { contextsOf } from '../../../testing/contexts.ts';
import { flameGraphOf } from '../../../testing/flame-graph-of.ts';
import { snapshotFromText } from '../../../testing/snapshot-from-text.ts';
import { boxLabel } from './flame-labels.ts';
import { FlameLayout } from './flame-layout.ts';

const DRAWN = snapshotFromText(`
  +seg 20Mi large @0x2000000
  +A 2Mi @model.py:5 forward < train.py:3 step < main.py:1 main
  +B 4Mi @model.py:6 call < train.py:3 step < main.py:1 main
  +C 2Mi @optim.py:9 update < train.py:4 finish < main.py:1 main
`);
const [CONTEXT] = contextsOf(DRAWN.snapshot);
const OPTIONS = { set: { kind: 'live', event: DRAWN.eventOf('+C') }, weight: 'bytes' } as const;
const LAYOUT = new FlameLayout(flameGraphOf(CONTEXT, OPTIONS));
const labelAt = (level: number, x: number) => {
  const box = LAYOUT.boxAt(level, x);
  return box === undefined ? undefined : boxLabel(box);
};
const boxOf = (label: string) => LAYOUT.root.find((box) => boxLabel(box) === label) ?? LAYOUT.root;

describe('places', () => {
  it('are as wide as the boxes’ bytes, and can be found again', () => {
    expect(labelAt(0, 0.99)).toBe('all');
    expect(labelAt(2, 0.74)).toBe('step');
    expect(labelAt(2, 0.76)).toBe('finish');
    expect(labelAt(3, 0.49)).toBe('call');
    expect(labelAt(3, 0.51)).toBe('forward');
    expect(labelAt(4, 0.5)).toBeUndefined();
    expect(labelAt(-1, 0.5)).toBeUndefined();
  });

  it('of any box: its middle is in it, its children are within it, neighbors do not overlap', () => {
    fc.assert(
      fc.property(allocatorProgram([]), fc.boolean(), (lines, inverted) => {
        const [context] = contextsOf(snapshotFromText(lines.join('\n')).snapshot);
        const last = context.trace.events.length - 1;
        const set = { kind: 'difference', before: last >> 1, after: last } as const;
        const graph = flameGraphOf(context, { set, weight: 'bytes' }, { inverted });
        const layout = new FlameLayout(graph);
        for (const [level, boxes] of layout.levels.entries()) {
          boxes.forEach((box, i) => {
            if (i > 0) expect(box.x0).toBeGreaterThanOrEqual(boxes[i - 1].x1);
            if (box.parent) expect(box.x1).toBeLessThanOrEqual(box.parent.x1 + 1e-9);
            if (box.x1 - box.x0 < 1e-9) return;
            expect(layout.boxAt(level, (box.x0 + box.x1) / 2)).toBe(box);
          });
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('paths', () => {
  it('lead back to every box of a capture, also when zoomed into one', () => {
    const [context] = contextsOf(loadCapture('train_gpt_cpp_stacks.pickle.gz'));
    const { event } = context.replay.peaks.activeBytes;
    const options = { set: { kind: 'live', event }, weight: 'bytes' } as const;
    const layout = new FlameLayout(flameGraphOf(context, options));
    const paths = layout.levels.flat().map((box) => layout.pathOf(box));
    expect(new Set(paths).size).toBe(paths.length);
    for (const box of layout.levels.flat()) {
      expect(layout.boxOfPath(layout.pathOf(box) ?? 'none')).toBe(box);
    }
    const deep = layout.levels[6][0];
    const root = layout.pathOf(deep);
    const zoomed = new FlameLayout(flameGraphOf(context, options, { root }));
    expect(boxLabel(zoomed.root)).toBe(boxLabel(deep));
    for (const box of zoomed.levels.flat()) {
      const path = zoomed.pathOf(box) ?? 'none';
      expect(zoomed.boxOfPath(path)).toBe(box);
      expect(layout.boxOfPath(path)).toBeDefined();
    }
    expect(zoomed.boxOfPath('elsewhere')).toBeUndefined();
    expect(zoomed.ancestry(zoomed.root)).toHaveLength(6);
  });

  it('of boxes too small to see lead to the caller', () => {
    const layout = new FlameLayout(flameGraphOf(CONTEXT, OPTIONS, { smallestShare: 0.3 }));
    const hidden = layout.levels.flat().filter((box) => boxLabel(box) === '1 smaller');
    expect(hidden).toHaveLength(2);
    for (const box of hidden) {
      expect(layout.pathOf(box)).toBeUndefined();
      expect(layout.zoomPathOf(box)).toBe(layout.pathOf(box.parent ?? box));
    }
    const [left] = layout.levels[3];
    expect(layout.neighbor(left, 'ArrowRight')).toBe(left);
    expect(layout.zoomPathOf(layout.root)).toBeUndefined();
  });
});

it('goes from box to box with the arrow keys, and stays where nothing follows', () => {
  expect(LAYOUT.neighbor(boxOf('main'), 'ArrowDown')).toBe(boxOf('step'));
  expect(LAYOUT.neighbor(boxOf('step'), 'ArrowRight')).toBe(boxOf('finish'));
  expect(LAYOUT.neighbor(boxOf('finish'), 'ArrowRight')).toBe(boxOf('finish'));
  expect(LAYOUT.neighbor(boxOf('update'), 'ArrowLeft')).toBe(boxOf('forward'));
  expect(LAYOUT.neighbor(boxOf('call'), 'ArrowDown')).toBe(boxOf('call'));
  expect(LAYOUT.neighbor(boxOf('update'), 'ArrowUp')).toBe(boxOf('finish'));
  expect(LAYOUT.neighbor(LAYOUT.root, 'ArrowUp')).toBe(LAYOUT.root);
});
