/**
 * Colors of the call sites in view. There are far more sites than distinguishable colors, so a site's class decides its
 * color, but each site named in the legend has a color that no other site has: the others share what is left.
 */

/** By stack, classes of call sites start here. */
export const FIRST_STACK_CLASS = 3;

/** Palette rows of colorings by stack: three without a stack, the others for sites. */
export const STACK_CLASSES = 240;

/**
 * Colors of named sites, then of those that were named before: '17:4,203:0;99:5' gives class 17 color 4, and class 99
 * its old color 5 until another site takes it.
 */
export type SiteColors = string;

/** A class's default among `count` colors. */
export const colorOfClass = (siteClass: number, count: number): number =>
  (siteClass - FIRST_STACK_CLASS) % count;

/** Class → color, of the named sites only. */
export const readSiteColors = (text: SiteColors): ReadonlyMap<number, number> =>
  pairsIn(text.split(';', 1)[0] ?? '');

function pairsIn(text: string): Map<number, number> {
  const pairs = [...text.matchAll(/(\d+):(\d+)/g)];
  return new Map(pairs.map(([, siteClass, color]) => [Number(siteClass), Number(color)]));
}

/** The colors, of `count`, that no named site has; all if every one is taken. */
export function colorsLeft(siteColors: SiteColors, count: number): readonly number[] {
  const taken = new Set(readSiteColors(siteColors).values());
  const all = Array.from({ length: count }, (_, color) => color);
  return taken.size < count ? all.filter((color) => !taken.has(color)) : all;
}

/** Class → color, of `count`. Sites without a name keep their last color or default, unless a named site has it. */
export function siteColorReader(
  siteColors: SiteColors,
  count: number,
): (siteClass: number) => number {
  const known = pairsIn(siteColors);
  const left = colorsLeft(siteColors, count);
  return (siteClass) => {
    const own = colorOfClass(siteClass, count);
    return known.get(siteClass) ?? (left.includes(own) ? own : left[siteClass % left.length]);
  };
}

/** Classes of the call sites that a legend names, heaviest first. */
export const namedSites = ({
  entries,
}: {
  readonly entries: readonly { readonly swatch: number | string }[];
}): number[] =>
  entries.flatMap(({ swatch }) =>
    typeof swatch === 'number' && swatch >= FIRST_STACK_CLASS ? [swatch] : [],
  );

/**
 * Distinct colors for the classes `named`. Those already in view keep their color, so panning never recolors them, and
 * one that comes back after a search has the color that it had; a new one keeps the color that its blocks had without a
 * name. Only if that belongs to another named site does it get one that is free.
 * @param before the previous view's result; '' for none
 * @param count number of colors, more than the number of named classes
 */
export function siteColorsInView(
  named: readonly number[],
  before: SiteColors,
  count: number,
): SiteColors {
  const known = pairsIn(before);
  const colorBefore = siteColorReader(before, count);
  const given = new Map([...known].filter(([one]) => named.includes(one)));
  const isFree = (color: number) => ![...given.values()].includes(color);
  const isForgotten = (color: number) => isFree(color) && ![...known.values()].includes(color);
  const waiting = named.filter((one) => !given.has(one));
  for (const one of waiting) {
    if (isFree(colorBefore(one))) given.set(one, colorBefore(one));
  }
  for (const one of waiting) {
    if (given.has(one)) continue;
    // Starts at its own color, so sites that collide do not all take the first free one.
    const next = Array.from(
      { length: count - 1 },
      (_, step) => (colorBefore(one) + step + 1) % count,
    );
    given.set(one, next.find(isForgotten) ?? next.find(isFree) ?? colorBefore(one));
  }
  const rest = [...known].filter(([one, color]) => !given.has(one) && isFree(color));
  const text = (pairs: Iterable<readonly [number, number | undefined]>) =>
    Array.from(pairs, ([one, color]) => `${one}:${color}`).join(',');
  return [named.map((one) => [one, given.get(one)] as const), rest].map(text).join(';');
}
