/** All colorings, fetched when one is asked for that a file is not first drawn in. */
import { assert } from '../../base/assert.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { ColorBy } from '../timeline/types.ts';
import { type Coloring, firstColoring } from './first-colorings.ts';

let colorings: typeof import('./colorings.ts') | undefined;

/** To be awaited before {@link coloringOf} is asked for any but 'stack' and 'size'. */
export async function loadColorings(): Promise<void> {
  colorings ??= await import('./colorings.ts');
}

export const needsColorings = (colorBy: unknown): boolean =>
  colorBy !== undefined && colorBy !== 'stack' && colorBy !== 'size';

/** @param classCount as for `makeColoring` */
export function coloringOf(context: DeviceModel, colorBy: ColorBy, classCount: number): Coloring {
  if (colorBy === 'stack' || colorBy === 'size') return firstColoring(context, colorBy, classCount);
  assert(colorings !== undefined, 'loadColorings was awaited');
  return colorings.makeColoring(context, colorBy, classCount);
}
