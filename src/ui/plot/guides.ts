/** What the analysis adds to every plot: the limit, and where steps begin. Whoever shows a verdict fills the store. */
import { createContext, useContext } from 'react';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import type { DeviceInfo } from '../../device/model/types.ts';
import type { PlotAxis } from '../../draw/timeline/types.ts';
import { toPlotX } from './viewport-of.ts';

export interface Guides {
  /** What the process could reserve; a plot whose y is reserved memory draws it. */
  readonly limitBytes: number | undefined;
  readonly steps: StepMarks | undefined;
}

export type GuidesStore = StoreApi<Guides>;

export const NO_GUIDES: Guides = { limitBytes: undefined, steps: undefined };

const createGuidesStore = (): GuidesStore => createStore<Guides>(() => NO_GUIDES);

/** One store serves the page; a test can provide its own. */
const GuidesContext = createContext<GuidesStore>(createGuidesStore());

export const useGuidesStore = (): GuidesStore => useContext(GuidesContext);

/** A limit that is no higher than this over all else is worth the room that it takes of the picture. */
const SHOWN_ABOVE = 1.25;

/** As high as a fitted plot reaches. @param bytes the highest of all else that it draws */
export function fittedWithLimit(bytes: number, limitBytes = 0): number {
  return limitBytes > SHOWN_ABOVE * bytes ? bytes : Math.max(bytes, limitBytes);
}

/** CSS pixels between marks of steps, at least. */
const STEP_SPACING = 10;

/** Where steps begin on an axis from x0 to x1 on `width` pixels. */
export function stepsInView(
  steps: StepMarks | undefined,
  device: Pick<DeviceInfo, 'folds'>,
  { axis, x0, x1 }: { readonly axis: PlotAxis; readonly x0: number; readonly x1: number },
  width: number,
): readonly number[] {
  if (steps === undefined) return [];
  const places = axis === 'event' ? steps.events : steps.timesUs;
  const found: number[] = [];
  let next = x0;
  for (const place of places) {
    const x = toPlotX(device, axis, place);
    // NaN, where the trace has no times, is in no range.
    if (!(x >= next && x <= x1)) continue;
    found.push(x);
    next = x + (STEP_SPACING * (x1 - x0)) / width;
  }
  return found;
}
