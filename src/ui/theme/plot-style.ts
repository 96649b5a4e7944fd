/** Colors of what is drawn over the stack; canvases cannot read the style sheet's light-dark(). */
import type { CounterName } from '../../allocator/replay/types.ts';
import { type ThemeName, toAbgr } from './palette.ts';

export interface PlotStyle {
  readonly lines: Readonly<Record<CounterName, string>>;
  readonly halo: string;
  readonly ink: string;
  readonly dim: string;
  readonly accent: string;
  readonly danger: string;
  readonly onDanger: string;
  readonly track: string;
  readonly trackAlternate: string;
  readonly trackText: string;
}

const STYLES: Readonly<Record<ThemeName, PlotStyle>> = {
  dark: {
    lines: {
      allocatedBytes: '#4cc2ff',
      activeBytes: '#ffb224',
      reservedBytes: '#f2f4f8',
      requestedBytes: '#7ee081',
      inactiveSplitBytes: '#e59bff',
    },
    halo: '#12151a',
    ink: '#e7eaef',
    dim: '#a0a8b5',
    accent: '#5cb3ff',
    danger: '#ff7d92',
    onDanger: '#24080e',
    track: '#2b3a4d',
    trackAlternate: '#35475e',
    trackText: '#dfe6ef',
  },
  light: {
    lines: {
      allocatedBytes: '#0b5fd0',
      activeBytes: '#b45309',
      reservedBytes: '#1a1e26',
      requestedBytes: '#17703b',
      inactiveSplitBytes: '#8b24c4',
    },
    halo: '#ffffff',
    ink: '#1a1e26',
    dim: '#565e6c',
    accent: '#0b62cc',
    danger: '#b91c35',
    onDanger: '#ffffff',
    track: '#dbe6f3',
    trackAlternate: '#c9d9ec',
    trackText: '#1f2c3d',
  },
};

export const plotStyle = (theme: ThemeName): PlotStyle => STYLES[theme];

/** Dashed are those that mostly run on top of another, so that both can be seen. */
const DASHES: Readonly<Partial<Record<CounterName, readonly [number, number]>>> = {
  allocatedBytes: [5, 4],
  requestedBytes: [2, 3],
};

export function dashOf(counter: CounterName, pixelRatio: number): [number, number] | undefined {
  const dash = DASHES[counter];
  if (dash === undefined) return undefined;
  return [Math.round(dash[0] * pixelRatio), Math.round(dash[1] * pixelRatio)];
}

export const lineColor = (theme: ThemeName, counter: CounterName): number =>
  toAbgr(STYLES[theme].lines[counter]);
