/** What tells call sites of one line apart: the same in every list and legend, whichever of them it has. */

import { groupBy, weakMemoized } from '../../base/collections.ts';
import { tellApart } from '../../base/tell-apart.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from './device-model.ts';
import { frameLabel, frameLocation, functionText, leafText } from './frame-text.ts';
import { absenceText } from './stacks.ts';
import type { FrameView } from './types.ts';

export interface SiteName {
  /** Its line and the innermost function that it led to: 'model.py:12 · linear in functional.py:125'. */
  readonly line: string;
  /** The places in which it differs from the device's other sites with that text; none if it is the only one. */
  readonly places: readonly Near[];
  /** Among sites that differ in no place, from 1; undefined if it is the only one. */
  readonly number: number | undefined;
}

export interface NearFrame {
  readonly frame: FrameView;
  /** Code that the line called, in a library. */
  readonly isInner: boolean;
}

interface Near extends NearFrame {
  readonly place: string;
}

/** By row of the device's call sites; undefined for those without a stack. */
export const siteNames = weakMemoized((context: DeviceModel): readonly (SiteName | undefined)[] => {
  const { stack, length } = context.callSites();
  const rows = Array.from({ length }, (_, row) => row).filter((row) => stack[row] > EMPTY_STACK);
  const names: (SiteName | undefined)[] = Array.from({ length });
  for (const [line, same] of groupBy(rows, (row) => lineText(context, stack[row]))) {
    const near = same.map((row) => (same.length > 1 ? placesNear(context, stack[row]) : []));
    const places: Near[][] = same.map(() => []);
    const numbers: number[] = [];
    const chains = {
      lengthOf: (at: number) => near[at].length,
      keyOf: (at: number, depth: number) => near[at][depth]?.place,
    };
    tellApart([...same.keys()], chains, {
      onPlace(alike, place, depth) {
        if (place !== undefined) for (const at of alike) places[at].push(near[at][depth]);
      },
      onAlike: (alike) =>
        alike.forEach((at, i) => {
          numbers[at] = i + 1;
        }),
    });
    same.forEach((row, at) => {
      names[row] = { line, places: places[at], number: numbers[at] };
    });
  }
  return names;
});

function lineText({ stacks }: DeviceModel, site: StackIndex): string {
  const frame = stacks.topUserFrameView(site);
  const leaf = stacks.leafFrameView(site);
  if (frame === undefined) return absenceText('recorded');
  if (leaf === undefined) return frameLabel(frame);
  return `${frameLocation(frame) ?? functionText(frame)} · ${leafText(leaf)}`;
}

/** The line's callers, nearest first: those in the user's code, then all others; then what it called. */
function placesNear({ stacks }: DeviceModel, site: StackIndex): readonly Near[] {
  const top = stacks.topUserFrame(site);
  const [own, others, inner]: Near[][] = [[], [], []];
  let isOutside = false;
  for (const index of stacks.frames(site)) {
    const frame = stacks.frame(index);
    const place = frameLocation(frame);
    const isTold = frame.kind !== 'cpp' && index !== top;
    if (isTold && place !== undefined) {
      const group = !isOutside ? inner : frame.kind === 'user' ? own : others;
      group.push({ place, frame, isInner: !isOutside });
    }
    if (index === top) isOutside = true;
  }
  return [...own, ...others, ...inner];
}
