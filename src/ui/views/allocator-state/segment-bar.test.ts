import { describe, expect, it } from 'vitest';
import type { SegmentBars } from '../../../device/allocator-state/segment-bars.ts';
import { type BarColors, paintBar } from './segment-bar.tsx';

const COLORS: BarColors = {
  classes: ['red', 'green'],
  pending: 'pink',
  unmatched: undefined,
  edge: 'white',
  selection: 'black',
};

/** What was drawn, in words: 'red 0.5 0..4'. */
function drawn(bars: SegmentBars, index: number, colors = COLORS, selected = -1): string[] {
  const log: string[] = [];
  const context = {
    canvas: { width: bars.width, height: 10 },
    fillStyle: '',
    strokeStyle: '',
    lineWidth: 1,
    globalAlpha: 1,
    clearRect: () => log.push('clear'),
    fillRect(x: number, _y: number, width: number) {
      log.push(`${this.fillStyle} ${this.globalAlpha.toFixed(2)} ${x}..${x + width}`);
    },
    strokeRect(x: number, _y: number, width: number) {
      log.push(`outline ${x}..${x + width}`);
    },
    stroke: () => log.push('stripes'),
    save: () => undefined,
    restore: () => undefined,
    beginPath: () => undefined,
    rect: () => undefined,
    clip: () => undefined,
    moveTo: () => undefined,
    lineTo: () => undefined,
  };
  paintBar(context as unknown as CanvasRenderingContext2D, bars, index, colors, selected);
  return log;
}

function barsOf(allocation: readonly number[], change: Partial<SegmentBars> = {}): SegmentBars {
  const width = allocation.length;
  return {
    width,
    allocation: Int32Array.from(allocation),
    used: new Uint8Array(width).fill(255),
    isPending: new Uint8Array(width),
    isMatch: new Uint8Array(width).fill(1),
    classOf: Uint8Array.from(allocation, (id) => (id === 7 ? 1 : 0)),
    ...change,
  };
}

describe('a bar', () => {
  it('has one rectangle per block, in its color, and nothing where memory is free', () => {
    expect(drawn(barsOf([-1, 3, 3, 7, -1]), 0)).toEqual([
      'clear',
      'red 1.00 1..3',
      'green 1.00 3..4',
    ]);
  });

  it('has an edge at the end of blocks that are wide enough', () => {
    expect(drawn(barsOf([3, 3, 3, 3, -1]), 0)).toEqual([
      'clear',
      'red 1.00 0..4',
      'white 1.00 3..4',
    ]);
  });

  it('is paler where pixels are used in part, never invisible', () => {
    const bars = barsOf([3, 7], { used: Uint8Array.of(255, 1) });
    expect(drawn(bars, 0)).toEqual(['clear', 'red 1.00 0..1', 'green 0.35 1..2']);
  });

  it('is striped where a free is pending', () => {
    const bars = barsOf([3, -1], { isPending: Uint8Array.of(1, 0) });
    expect(drawn(bars, 0)).toEqual(['clear', 'pink 0.30 0..1', 'stripes']);
  });

  it('is pale where the search does not match, gray if only matches are shown', () => {
    const bars = barsOf([3, 7], { isMatch: Uint8Array.of(0, 1) });
    expect(drawn(bars, 0)).toEqual(['clear', 'red 0.20 0..1', 'green 1.00 1..2']);
    expect(drawn(bars, 0, { ...COLORS, unmatched: 'gray' })).toContain('gray 0.20 0..1');
  });

  it('outlines the selected block', () => {
    expect(drawn(barsOf([-1, 3, 3, 3, 7]), 0, COLORS, 3)).toContain('outline 2..3');
    expect(drawn(barsOf([-1, 3]), 0, COLORS, 5)).not.toContain('outline');
  });

  it('shows the segment at its index', () => {
    const bars: SegmentBars = { ...barsOf([3, 3, 7, 7]), width: 2 };
    expect(drawn(bars, 1)).toEqual(['clear', 'green 1.00 0..2']);
  });
});
