import type { WhatIfResult } from './types.ts';

/** What the order of settings goes by. */
export interface Ranked extends Pick<WhatIfResult, 'ooms' | 'peakReservedBytes' | 'retries'> {
  /** Where it was searched. `gib` undefined: no common card is enough. */
  readonly card?: { readonly gib: number | undefined } | undefined;
}

/**
 * The better setting first: none that runs out of memory before one that does, then the smaller card (a
 * retry now and then is better than a larger card), the least reserved, the fewest retries.
 */
export function compareRuns(a: Ranked, b: Ranked): number {
  return (
    Number(a.ooms.length > 0) - Number(b.ooms.length > 0) ||
    compareCards(a.card, b.card) ||
    a.peakReservedBytes - b.peakReservedBytes ||
    a.retries - b.retries
  );
}

/** Equal while one of the cards is not known. */
function compareCards(a: Ranked['card'], b: Ranked['card']): number {
  if (a === undefined || b === undefined || a.gib === b.gib) return 0;
  return (a.gib ?? Infinity) - (b.gib ?? Infinity);
}
