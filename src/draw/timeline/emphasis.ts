/** Makes some blocks stand out: dims blocks that don't match a search, and fades blocks that are not highlighted. */
import { MAX_CLASSES, mix } from './colors.ts';
import type { Palette } from './types.ts';

/** Non-matching blocks: how far the "thin" color goes towards the background. */
const DIMMED_SHARE = 0.55;
/** Blocks that are not highlighted: how far their own color goes towards the background. */
const PALE_SHARE = 0.6;

/** The palette plus a last class for dimmed blocks. */
export function withDimmedClass<P extends Palette>(palette: P): P {
  const dimmed = mix(palette.thin, palette.background, DIMMED_SHARE);
  return { ...palette, classes: Uint32Array.of(...palette.classes, dimmed) };
}

/** Keeps the last result: for the same inputs a panned frame gets the same array, and can reuse its columns. */
export function lastOnly<A extends readonly unknown[], R>(
  make: (...args: A) => R,
): (...args: A) => R {
  let last: { readonly args: A; readonly made: R } | undefined;
  return (...args) => {
    if (last?.args.every((arg, i) => arg === args[i]) !== true)
      last = { args, made: make(...args) };
    return last.made;
  };
}

/** Keeps the classes of matching blocks; the others get the class `dim`. */
export const dimClasses = (classOf: Uint8Array, mask: Uint8Array, dim: number): Uint8Array =>
  classOf.map((of, id) => (mask[id] === 1 ? of : dim));

/**
 * Classes for highlighted blocks and pale ones for the others, which keep their hue, with a palette for both. Classes of
 * one color are merged to make room.
 */
export function highlightClasses(classOf: Uint8Array, palette: Palette, mask: Uint8Array) {
  const colors = [...new Set(palette.classes)].slice(0, MAX_CLASSES >> 1);
  const pale = colors.map((color) => mix(color, palette.background, PALE_SHARE));
  const bright = Uint8Array.from(palette.classes, (color) => Math.max(0, colors.indexOf(color)));
  return {
    classOf: classOf.map((of, id) => (bright[of] ?? 0) + (mask[id] === 1 ? 0 : colors.length)),
    palette: { ...palette, classes: Uint32Array.of(...colors, ...pale) },
  };
}
