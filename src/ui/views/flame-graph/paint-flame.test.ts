import { describe, expect, it } from 'vitest';
import { contextsOf } from '../../../testing/contexts.ts';
import { flameGraphOf } from '../../../testing/flame-graph-of.ts';
import { snapshotFromText } from '../../../testing/snapshot-from-text.ts';
import { weightFormat } from './flame-labels.ts';
import { FlameLayout } from './flame-layout.ts';
import {
  type FlameContext,
  type FlameScene,
  flameColors,
  LEVEL_HEIGHT_PX,
  paintFlame,
} from './paint-flame.ts';

const DRAWN = snapshotFromText(`
  +seg 20Mi large @0x2000000
  +A 2Mi @model.py:5 forward < main.py:1 main
  +B 6Mi @model.py:6 call < main.py:1 main
`);
const [CONTEXT] = contextsOf(DRAWN.snapshot);
const SET = { kind: 'live', event: DRAWN.eventOf('+B') } as const;

/** Records what is drawn; letters are 6 px wide. */
class DrawLog implements FlameContext {
  readonly log: string[] = [];
  fillStyle = '';
  strokeStyle = '';
  lineWidth = 1;
  globalAlpha = 1;
  font = '';

  measureText(text: string): TextMetrics {
    return { width: text.length * 6 } as TextMetrics;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.log.push(`fill ${x},${y} ${width}x${height} ${this.globalAlpha}`);
  }

  strokeRect(x: number, y: number): void {
    this.log.push(`outline ${x},${y}`);
  }

  fillText(text: string): void {
    this.log.push(`text ${text}`);
  }
}

const graphOf = (matches?: Uint8Array) =>
  flameGraphOf(CONTEXT, { set: SET, weight: 'bytes', matches });

function draw(changes: Partial<FlameScene>, matches?: Uint8Array): string[] {
  const graph = graphOf(matches);
  const ctx = new DrawLog();
  paintFlame(ctx, {
    layout: new FlameLayout(graph),
    colors: flameColors('light'),
    figures: {
      format: weightFormat('bytes', true, false),
      isDifference: false,
      hasSearch: matches !== undefined,
      totalMagnitude: graph.total.magnitude,
    },
    chosenKey: undefined,
    selected: undefined,
    hovered: undefined,
    width: 400,
    height: 100,
    scrollTop: 0,
    isUp: false,
    pixelRatio: 1,
    ...changes,
  });
  return ctx.log.slice(1);
}

describe('painting', () => {
  it('fills boxes, and writes their names and, if there is space, their places', () => {
    expect(draw({})).toEqual([
      'fill 0,0 399x19 1',
      'text all',
      'fill 0,20 399x19 1',
      'text main',
      'text main.py:1',
      'fill 0,40 299x19 1',
      'text call',
      'text model.py:6',
      'fill 300,40 99x19 1',
      'text forward',
    ]);
  });

  it('shortens names that do not fit, and omits those without space', () => {
    expect(draw({ width: 160 })).toContain('text for…');
    expect(draw({ width: 60 }).filter((line) => line.startsWith('text'))).toEqual([
      'text all',
      'text main',
      'text call',
    ]);
  });

  it('draws in full color only the share that matches the search', () => {
    const log = draw({}, Uint8Array.of(1, 0));
    expect(log.filter((line) => line.startsWith('fill'))).toEqual([
      'fill 0,0 399x19 0.28',
      'fill 0,0 99.75x19 1',
      'fill 0,20 399x19 0.28',
      'fill 0,20 99.75x19 1',
      'fill 0,40 299x19 0.28',
      'fill 300,40 99x19 1',
    ]);
  });

  it('draws only the levels in view', () => {
    const log = draw({ scrollTop: 2 * LEVEL_HEIGHT_PX, height: LEVEL_HEIGHT_PX });
    expect(log.filter((line) => line.startsWith('fill'))).toEqual([
      'fill 0,0 299x19 1',
      'fill 300,0 99x19 1',
    ]);
  });

  it('draws callers upward: the outermost box at the bottom', () => {
    const boxes = draw({ isUp: true, height: 100 }).filter((line) => line.startsWith('fill'));
    expect(boxes).toEqual([
      'fill 0,80 399x19 1',
      'fill 0,60 399x19 1',
      'fill 0,40 299x19 1',
      'fill 300,40 99x19 1',
    ]);
    const last = draw({ isUp: true, scrollTop: 0, height: LEVEL_HEIGHT_PX });
    expect(last.filter((line) => line.startsWith('fill 300'))).toEqual(['fill 300,0 99x19 1']);
  });

  it('outlines what is hovered and what is selected', () => {
    const layout = new FlameLayout(graphOf());
    const [hovered, selected] = [layout.levels[1][0], layout.levels[2][1]];
    const outlines = draw({ layout, hovered, selected }).filter((line) =>
      line.startsWith('outline'),
    );
    expect(outlines).toEqual(['outline 0.5,20.5', 'outline 301,41']);
  });
});
