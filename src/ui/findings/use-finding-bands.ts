import { useEffect } from 'react';
import { detectorOf, type Finding } from '../../core/findings/detectors.ts';
import type { RankedFinding } from '../../core/findings/ranked-findings.ts';
import { useView } from '../../state/stores.ts';
import { type Band, useBandsStore } from '../plot/bands.ts';

/** Draws the selected finding over the plots for as long as it is selected. */
export function useFindingBands(findings: readonly RankedFinding[]): void {
  const bands = useBandsStore();
  const id = useView((view) => view.finding);
  const finding = findings.find((one) => one.id === id);
  useEffect(() => {
    if (finding === undefined) return;
    bands.setState(bandsOf(finding), true);
    return () => bands.setState([], true);
  }, [bands, finding]);
}

/** One stretch, from the first event of the evidence to behind the last. */
export function bandsOf(finding: Pick<Finding, 'detector' | 'events'>): Band[] {
  const { events } = finding;
  const fromEvent = Math.max(0, events.first);
  return [
    { fromEvent, toEvent: Math.max(fromEvent, events.last) + 1, ...detectorOf(finding).band },
  ];
}
