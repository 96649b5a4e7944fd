/**
 * What the analysis draws over every plot. The panels of verdict and findings fill the store; plots read it.
 */
import { createContext, useContext } from 'react';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { BandStyle } from '../../analysis/findings/types.ts';
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

/** A stretch of the trace that a finding speaks of. */
export interface Highlight {
  /** First event of it, and one past the last. */
  readonly fromEvent: EventIndex;
  readonly toEvent: EventIndex;
  readonly style: BandStyle;
  /** A word or two; '' for none. Labels that would overlap are left out. */
  readonly label: string;
  /** The search for the blocks that the finding speaks of: a timeline highlights them. '' for none. */
  readonly search: string;
  /** Drawn faintly: nobody asked for it. */
  readonly isLight: boolean;
}

export interface Overlays {
  readonly highlights: readonly Highlight[];
  /** What the process could reserve; a plot whose y is reserved memory draws it. */
  readonly limitBytes: number | undefined;
  /** Where the program's steps begin. */
  readonly steps: StepMarks | undefined;
}

export type OverlayStore = StoreApi<Overlays>;

export const createOverlayStore = (): OverlayStore =>
  createStore<Overlays>(() => ({ highlights: [], limitBytes: undefined, steps: undefined }));

/** One store serves the page; a test can provide its own. */
export const OverlaysContext = createContext(createOverlayStore());

export const useOverlayStore = (): OverlayStore => useContext(OverlaysContext);
