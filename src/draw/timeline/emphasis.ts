/** How some blocks stand out among all: those that a search finds are not dimmed, those that are highlighted not paler. */
import { MAX_CLASSES, mix } from './colors.ts';
import type { Scene } from './timeline-painter.ts';
import type { Palette } from './types.ts';

/** What does not match a search: how far "thin" goes towards the background. */
const DIMMED_SHARE = 0.55;
/** What is not marked: how far its own color goes there. */
const PALE_SHARE = 0.6;

/** The palette with one class more, the last: what stays in sight without being meant. */
export function withDimmedClass<P extends Palette>(palette: P): P {
  const classes = new Uint32Array(palette.classes.length + 1);
  classes.set(palette.classes);
  classes[palette.classes.length] = mix(palette.thin, palette.background, DIMMED_SHARE);
  return { ...palette, classes };
}

/** A palette with each color twice, and which class of it a class has bright and pale. */
interface TwofoldPalette<P extends Palette> {
  readonly palette: P;
  readonly bright: Uint8Array;
  readonly pale: Uint8Array;
}

/** To highlight some blocks among others that keep their hue: classes of one color share theirs, so that there is room. */
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

/** The highlighted blocks' classes and those of the others, in a palette that has both. */
export class HighlightedClasses {
  #of: readonly [classOf: Uint8Array, mask: Uint8Array, palette: Palette] | undefined;
  #made: Pick<Scene, 'classOf' | 'palette'> | undefined;

  /** The same arrays as long as what they are made of is the same: a panned frame keeps its columns by them. */
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

/** The classes of those that match; the others have the class after the last. */
export class DimmedClasses {
  #classOf: Uint8Array | undefined;
  #mask: Uint8Array | undefined;
  #dimmed = new Uint8Array(0);

  /** The same array as long as both are the same: a panned frame keeps its columns by it. */
  of(classOf: Uint8Array, mask: Uint8Array, dim: number): Uint8Array {
    if (classOf === this.#classOf && mask === this.#mask) return this.#dimmed;
    this.#classOf = classOf;
    this.#mask = mask;
    this.#dimmed = classOf.map((of, id) => (mask[id] === 1 ? of : dim));
    return this.#dimmed;
  }
}
