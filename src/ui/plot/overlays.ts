/** What the analysis draws over every plot. The verdict and findings panels fill the store; plots read it. */
import { createContext, useContext } from 'react';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { BandStyle } from '../../analysis/findings/types.ts';
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

export interface Highlight {
  /** Its first event, and one past its last. */
  readonly fromEvent: EventIndex;
  readonly toEvent: EventIndex;
  readonly style: BandStyle;
  /** A word or two; '' for none. Labels that would overlap are left out. */
  readonly label: string;
  /** The search for the finding's blocks, which the timeline highlights. '' for none. */
  readonly search: string;
  /** Drawn faintly because the user did not select it. */
  readonly isLight: boolean;
}

export interface Overlays {
  readonly highlights: readonly Highlight[];
  /** What the process could reserve; drawn in plots of reserved memory. */
  readonly limitBytes: number | undefined;
  readonly steps: StepMarks | undefined;
}

export type OverlayStore = StoreApi<Overlays>;

export const createOverlayStore = (): OverlayStore =>
  createStore<Overlays>(() => ({ highlights: [], limitBytes: undefined, steps: undefined }));

/** One store serves the page; a test can provide its own. */
export const OverlaysContext = createContext(createOverlayStore());

export const useOverlayStore = (): OverlayStore => useContext(OverlaysContext);
