/**
 * Stretches of the trace that a finding speaks of, drawn over every plot. Whoever shows a finding
 * fills the store, and empties it when it is left; plots only read it.
 */
import { createContext, useContext } from 'react';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { BandStyle } from '../../analysis/findings/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

export interface Band {
  /** First event of it, and one past the last. */
  readonly fromEvent: EventIndex;
  readonly toEvent: EventIndex;
  readonly style: BandStyle;
  /** A word or two; '' for none. Labels that would overlap are left out. */
  readonly label: string;
  /** The search that leaves the blocks that it speaks of: a timeline marks them. '' for none. */
  readonly search: string;
  /** Nobody has asked for it: it is drawn so that what lies behind it stays easy to see. */
  readonly isLight: boolean;
}

export type BandsStore = StoreApi<readonly Band[]>;

export const createBandsStore = (): BandsStore => createStore<readonly Band[]>(() => []);

/** One store serves the page; a test can provide its own. */
export const BandsContext = createContext<BandsStore>(createBandsStore());

/** `bands.setState([…], true)` shows bands, `bands.setState([], true)` none. */
export const useBandsStore = (): BandsStore => useContext(BandsContext);
