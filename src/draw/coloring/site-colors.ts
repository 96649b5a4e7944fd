/**
 * Colors of the call sites in view. There are far more sites than distinguishable colors, so a site's class decides its
 * color, but each site named in the legend has a color that no other site has: the others share what is left.
 */

/** By stack, classes of call sites start here. */
export const FIRST_STACK_CLASS = 3;

/** Palette rows of colorings by stack: three without a stack, the others for sites. */
export const STACK_CLASSES = 240;

/** Colors of named sites: '17:4,203:0' gives class 17 color 4. */
export type SiteColors = string;

/** A class's default among `count` colors. */
export const colorOfClass = (siteClass: number, count: number): number =>
  (siteClass - FIRST_STACK_CLASS) % count;

/** Class → color, of the named sites only. */
export function readSiteColors(text: SiteColors): ReadonlyMap<number, number> {
  const pairs = [...text.matchAll(/(\d+):(\d+)/g)];
  return new Map(pairs.map(([, siteClass, color]) => [Number(siteClass), Number(color)]));
}

/** The colors, of `count`, that no named site has; all if every one is taken. */
export function colorsLeft(siteColors: SiteColors, count: number): readonly number[] {
  const taken = new Set(readSiteColors(siteColors).values());
  const all = Array.from({ length: count }, (_, color) => color);
  return taken.size < count ? all.filter((color) => !taken.has(color)) : all;
}

/** Class → color, of `count`. Sites without a name keep their default unless a named site has it. */
export function siteColorReader(
  siteColors: SiteColors,
  count: number,
): (siteClass: number) => number {
  const given = readSiteColors(siteColors);
  const left = colorsLeft(siteColors, count);
  return (siteClass) => {
    const own = colorOfClass(siteClass, count);
    return given.get(siteClass) ?? (left.includes(own) ? own : left[siteClass % left.length]);
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
 * Distinct colors for the classes `named`. Those already in view keep their color, so panning never recolors them; each
 * new one keeps the color that its blocks had without a name, if that is free.
 * @param before the previous view's result; '' for none
 * @param count number of colors, more than the number of named classes
 */
export function siteColorsInView(
  named: readonly number[],
  before: SiteColors,
  count: number,
): SiteColors {
  const kept = readSiteColors(before);
  const colorBefore = siteColorReader(before, count);
  const given = new Map([...kept].filter(([one]) => named.includes(one)));
  const isFree = (color: number) => ![...given.values()].includes(color);
  const give = (siteClass: number, color: number) => given.set(siteClass, color);
  const waiting = named.filter((one) => !given.has(one));
  for (const one of waiting) {
    if (isFree(colorBefore(one))) give(one, colorBefore(one));
  }
  for (const one of waiting) {
    if (given.has(one)) continue;
    const own = colorBefore(one);
    // Starts at its own color, so sites that collide do not all take the first free one.
    for (let step = 1; step < count && !given.has(one); step++) {
      if (isFree((own + step) % count)) give(one, (own + step) % count);
    }
  }
  return named.map((one) => `${one}:${given.get(one) ?? colorBefore(one)}`).join(',');
}
