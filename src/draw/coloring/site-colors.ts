/**
 * Colors of the call sites in view. There are far more sites than distinguishable colors, so a site's class decides its
 * color, but each site named in the legend has a color that no other site has: the others share what is left.
 */

/** By stack, classes of call sites start here. */
export const FIRST_STACK_CLASS = 3;

/** Palette rows of colorings by stack: three without a stack, the others for sites. */
export const STACK_CLASSES = 240;

/**
 * Colors of named sites, then the first color of each site that ever was named, oldest first: with '17:4,203:0;99:4,17:4'
 * class 17 has color 4, and class 99 gets it back once it is named again.
 */
export type SiteColors = string;

/** A class's default among `count` colors. */
export const colorOfClass = (siteClass: number, count: number): number =>
  (siteClass - FIRST_STACK_CLASS) % count;

/** Class → color, of the named sites only. */
export const readSiteColors = (text: SiteColors): ReadonlyMap<number, number> => pairsIn(text, 0);

function pairsIn(text: SiteColors, part: 0 | 1): Map<number, number> {
  const pairs = [...(text.split(';')[part] ?? '').matchAll(/(\d+):(\d+)/g)];
  return new Map(pairs.map(([, siteClass, color]) => [Number(siteClass), Number(color)]));
}

/** The colors, of `count`, that no named site has; all if every one is taken. */
export function colorsLeft(siteColors: SiteColors, count: number): readonly number[] {
  const taken = new Set(readSiteColors(siteColors).values());
  const all = Array.from({ length: count }, (_, color) => color);
  return taken.size < count ? all.filter((color) => !taken.has(color)) : all;
}

/** Class → color, of `count`. Sites without a name keep their first color or default, unless a named site has it. */
export function siteColorReader(
  siteColors: SiteColors,
  count: number,
): (siteClass: number) => number {
  const given = readSiteColors(siteColors);
  const first = pairsIn(siteColors, 1);
  const left = colorsLeft(siteColors, count);
  return (siteClass) => {
    const own = first.get(siteClass) ?? colorOfClass(siteClass, count);
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
 * Distinct colors for the classes `named`. A site keeps the first color that it had with a name, which is the one that its
 * blocks had without, if that was free. Only beside an older site with the same one does it get another, for as long as
 * both are named: so the sites of the first picture never change.
 * @param before the previous view's result; '' for none
 * @param count number of colors, more than the number of named classes
 */
export function siteColorsInView(
  named: readonly number[],
  before: SiteColors,
  count: number,
): SiteColors {
  const first = pairsIn(before, 1);
  const colorBefore = siteColorReader(before, count);
  const given = new Map<number, number>();
  const isFree = (color: number) => ![...given.values()].includes(color);
  const usersOf = (color: number) => [...first.values()].filter((one) => one === color).length;
  for (const [one, color] of first) if (named.includes(one) && isFree(color)) given.set(one, color);
  for (const one of named) {
    if (given.has(one)) continue;
    const own = colorBefore(one);
    // Starts at its own color, so sites that collide do not all take the first free one.
    const free = Array.from({ length: count }, (_, step) => (own + step) % count).filter(isFree);
    const color = isFree(own) ? own : free.sort((a, b) => usersOf(a) - usersOf(b))[0];
    given.set(one, color);
    if (!first.has(one)) first.set(one, color);
  }
  const text = (pairs: Iterable<readonly [number, number | undefined]>) =>
    Array.from(pairs, ([one, color]) => `${one}:${color}`).join(',');
  return `${text(named.map((one) => [one, given.get(one)]))};${text(first)}`;
}
