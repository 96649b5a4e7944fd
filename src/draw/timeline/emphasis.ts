/** Makes some blocks stand out: dims blocks that don't match a search, and fades blocks that are not highlighted. */
import { MAX_CLASSES, mix } from './colors.ts';
import type { Scene } from './timeline-painter.ts';
import type { Palette } from './types.ts';

/** Non-matching blocks: how far the "thin" color goes towards the background. */
const DIMMED_SHARE = 0.55;
/** Blocks that are not highlighted: how far their own color goes towards the background. */
const PALE_SHARE = 0.6;

/** The palette plus a last class for dimmed blocks. */
export function withDimmedClass<P extends Palette>(palette: P): P {
  const classes = new Uint32Array(palette.classes.length + 1);
  classes.set(palette.classes);
  classes[palette.classes.length] = mix(palette.thin, palette.background, DIMMED_SHARE);
  return { ...palette, classes };
}

/** A palette with each color bright and pale, and the two new classes of each old class. */
interface TwofoldPalette<P extends Palette> {
  readonly palette: P;
  readonly bright: Uint8Array;
  readonly pale: Uint8Array;
}

/** Lets the other blocks keep their hue beside highlighted ones. Classes of one color are merged to make room. */
function withPaleClasses<P extends Palette>(palette: P): TwofoldPalette<P> {
  const colors = [...new Set(palette.classes)].slice(0, MAX_CLASSES >> 1);
  const pale = colors.map((color) => mix(color, palette.background, PALE_SHARE));
  const bright = Uint8Array.from(palette.classes, (color) => Math.max(0, colors.indexOf(color)));
  return {
    palette: { ...palette, classes: Uint32Array.from([...colors, ...pale]) },
    bright,
    pale: bright.map((color) => color + colors.length),
  };
}

/** Classes for highlighted blocks and for the others, with a palette for both. */
export class HighlightedClasses {
  #of: readonly [classOf: Uint8Array, mask: Uint8Array, palette: Palette] | undefined;
  #made: Pick<Scene, 'classOf' | 'palette'> | undefined;

  /** Returns the same arrays for the same inputs, so that a panned frame can reuse its columns. */
  of({ classOf, palette }: Scene, mask: Uint8Array): Pick<Scene, 'classOf' | 'palette'> {
    const made = this.#made;
    const isSame = this.#of?.[0] === classOf && this.#of[1] === mask && this.#of[2] === palette;
    if (made !== undefined && isSame) return made;
    const { bright, pale, palette: both }: TwofoldPalette<Palette> = withPaleClasses(palette);
    const classes = classOf.map((of, id) => (mask[id] === 1 ? bright : pale)[of] ?? 0);
    this.#of = [classOf, mask, palette];
    this.#made = { classOf: classes, palette: both };
    return this.#made;
  }
}

/** Keeps the classes of matching blocks; the others get the class after the last. */
export class DimmedClasses {
  #classOf: Uint8Array | undefined;
  #mask: Uint8Array | undefined;
  #dimmed = new Uint8Array(0);

  /** Returns the same array for the same inputs, so that a panned frame can reuse its columns. */
  of(classOf: Uint8Array, mask: Uint8Array, dim: number): Uint8Array {
    if (classOf === this.#classOf && mask === this.#mask) return this.#dimmed;
    this.#classOf = classOf;
    this.#mask = mask;
    this.#dimmed = classOf.map((of, id) => (mask[id] === 1 ? of : dim));
    return this.#dimmed;
  }
}
