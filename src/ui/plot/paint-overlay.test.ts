import { expect, it } from 'vitest';
import { plotStyle } from '../theme/palette.ts';
import { overlayPainter } from './paint-overlay.ts';

it('draws the labels of OOMs above every line and cursor near them', () => {
  const calls: string[] = [];
  const context = new Proxy({} as CanvasRenderingContext2D, {
    get: (_, name) => {
      if (name === 'measureText') return (text: string) => ({ width: 6 * text.length });
      return (first: unknown) => calls.push(name === 'fillText' ? String(first) : String(name));
    },
    set: () => true,
  });
  const painter = overlayPainter(context, plotStyle('light'), { width: 800, height: 400 });
  painter.marker('snapshot', 101);
  painter.marker('oom', 100);
  painter.cursors({ left: 98, right: 104 }, undefined);
  painter.markerLabel('oom', 100);
  painter.markerLabel('snapshot', 101);
  expect(calls.at(-1)).toBe('OOM');
  expect(calls.filter((call) => call === 'OOM' || call === 'snapshot')).toEqual(['OOM']);
});
