import { createContext, useContext, useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore, type StoreApi } from 'zustand/vanilla';
import { detectorOf, type Finding } from '../../../analysis/findings/detectors.ts';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import { useView } from '../../../state/stores.ts';
import { type Highlight, useOverlayStore } from '../../plot/plot-source.ts';
import { markedSearch, type Shown } from './show-finding.ts';

/** Whether to mark the verdict's finding while none is selected. Lasts until the page closes. */
interface Marking {
  readonly isOn: boolean;
}

const createMarkingStore = (): StoreApi<Marking> => createStore<Marking>(() => ({ isOn: true }));

/** One store serves the page; a test can provide its own. */
const MarkingContext = createContext(createMarkingStore());

export function useMarking(): readonly [isOn: boolean, toggle: () => void] {
  const marking = useContext(MarkingContext);
  const isOn = useStore(marking, (state) => state.isOn);
  return [isOn, () => marking.setState({ isOn: !isOn })];
}

/** Marks the selected finding in the plots; while none is selected, lightly marks the verdict's. */
export function useFindingHighlights(
  findings: readonly RankedFinding[],
  marked: Finding | undefined,
): void {
  const overlays = useOverlayStore();
  const [isMarking] = useMarking();
  const id = useView((view) => view.finding);
  const selected = findings.find((one) => one.id === id);
  const light = id === undefined && isMarking ? marked : undefined;
  const finding = selected ?? light;
  const isLight = selected === undefined;
  useEffect(() => {
    if (finding === undefined) return;
    overlays.setState({ highlights: highlightsOf(finding, isLight) });
    return () => overlays.setState({ highlights: [] });
  }, [overlays, finding, isLight]);
}

/** One range, from the first event of the evidence to just past the last. */
export function highlightsOf(finding: Shown, isLight: boolean): Highlight[] {
  const { events } = finding;
  const fromEvent = Math.max(0, events.first);
  const toEvent = Math.max(fromEvent, events.last) + 1;
  // The view already searches for a selected finding's blocks.
  const search = isLight ? markedSearch(finding) : '';
  return [{ fromEvent, toEvent, isLight, search, ...detectorOf(finding).band }];
}
