/**
 * Which colors the call sites in view have. There are far more sites than colors that eyes can tell apart, so each
 * site has a color by its class, and those that a legend names get one that none of the others has.
 */

/** By stack, call sites have the classes from here on. */
export const FIRST_STACK_CLASS = 3;

/** Palette rows of colorings by stack: three for what has no stack, the others for sites. */
export const STACK_CLASSES = 240;

/** Color of each site that a legend names, where it is not that of its class: '17:4,203:0' is class 17 in color 4. */
export type SiteColors = string;

/** The color that a class has unless another is given to it; of `count` colors. */
export const colorOfClass = (siteClass: number, count: number): number =>
  (siteClass - FIRST_STACK_CLASS) % count;

/** From class to color; classes that are not in it have {@link colorOfClass}. */
export function readSiteColors(text: SiteColors): ReadonlyMap<number, number> {
  const pairs = text === '' ? [] : text.split(',');
  return new Map(pairs.map((pair) => pairOf(pair)));
}

function pairOf(text: string): [siteClass: number, color: number] {
  const [siteClass = '', color = ''] = text.split(':');
  return [Number(siteClass), Number(color)];
}

/** Classes of the call sites that a legend names, the heaviest first. */
export const namedSites = ({
  entries,
}: {
  readonly entries: readonly { readonly swatch: number | string }[];
}): number[] =>
  entries.flatMap(({ swatch }) =>
    typeof swatch === 'number' && swatch >= FIRST_STACK_CLASS ? [swatch] : [],
  );

/**
 * A color for each of the classes `named`, no two the same. Those that were in view keep what they had, so that
 * a pan changes no color of what stays; of the others each gets its own color where that is free.
 * @param before what was given for the view before; '' for none
 * @param count how many colors there are, at least as many as are named
 */
export function siteColorsInView(
  named: readonly number[],
  before: SiteColors,
  count: number,
): SiteColors {
  const kept = readSiteColors(before);
  const given = new Map(named.flatMap((one) => (kept.has(one) ? [[one, kept.get(one) ?? 0]] : [])));
  const isFree = (color: number) => ![...given.values()].includes(color);
  const give = (siteClass: number, color: number) => given.set(siteClass, color);
  const waiting = named.filter((one) => !given.has(one));
  for (const one of waiting) {
    if (isFree(colorOfClass(one, count))) give(one, colorOfClass(one, count));
  }
  for (const one of waiting) {
    if (given.has(one)) continue;
    const own = colorOfClass(one, count);
    // From its own color on, so that sites that clash do not all take the first free one.
    for (let step = 1; step < count && !given.has(one); step++) {
      if (isFree((own + step) % count)) give(one, (own + step) % count);
    }
  }
  return named.map((one) => `${one}:${given.get(one) ?? colorOfClass(one, count)}`).join(',');
}
