import { expect, test } from 'vitest';
import type { Viewport } from '../raster/types.ts';
import { type AddressBand, drawBands } from './address-bands.ts';

const BACKGROUND = 0xffffffff;
const PALETTE = {
  classes: Uint32Array.of(1),
  background: BACKGROUND,
  pending: 2,
  thin: 3,
  marks: { block: 0xff0000c0, gap: 0xffc00000 },
};
const NAMES = new Map([
  [BACKGROUND, '.'],
  [0xff000000, '#'],
  [PALETTE.marks.block, 'B'],
  [PALETTE.marks.gap, 'G'],
]);

/** One line a row, the highest first; '-' is anything else: a fill. */
function drawn(bands: readonly AddressBand[], states: readonly number[]): string {
  const { length: width } = states;
  const viewport: Viewport = { axis: 'event', x0: 0, x1: 9, y0: 0, y1: 50, width, height: 5 };
  const pixels = new Uint32Array(width * 5).fill(BACKGROUND);
  drawBands(bands, Int32Array.from(states), viewport, PALETTE, pixels);
  const text = Array.from(pixels, (pixel) => NAMES.get(pixel) ?? '-').join('');
  return text.match(new RegExp(`.{${width}}`, 'g'))?.join('\n') ?? '';
}

const STATES = [-1, 0, 2, 4, 6, 8, -1];

test('an outline from the first column that shows it to the last', () => {
  const band = { offset: 10, bytes: 30, from: 1, to: 7 };
  expect(drawn([band], STATES)).toBe('.......\n..###..\n..#-#..\n..###..\n.......');
  expect(drawn([{ ...band, style: 'block' }], STATES)).toBe(
    '.......\n..BBB..\n..B.B..\n..BBB..\n.......',
  );
  expect(drawn([{ ...band, style: 'gap' }], STATES)).toBe(
    '.......\n..GGG..\n..G-G..\n..GGG..\n.......',
  );
});

test('what is thinner than a row is a line, what lies between two columns is not drawn', () => {
  expect(drawn([{ offset: 22, bytes: 1, from: 2, to: 3 }], STATES)).toBe(
    '.......\n.......\n..#....\n.......\n.......',
  );
  expect(drawn([{ offset: 22, bytes: 1, from: 3, to: 4 }], STATES)).not.toContain('#');
});

test('goes on beyond the frame, without a line there', () => {
  const band = { offset: -100, bytes: 1000, from: -1, to: 99 };
  expect(drawn([{ ...band, style: 'gap' }], [3, 4, 5])).not.toContain('G');
  expect(drawn([{ ...band, from: 4 }], [3, 4, 5]).split('\n')[0]).toBe('.#-');
});
