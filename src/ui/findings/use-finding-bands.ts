import { useEffect } from 'react';
import type { RankedFinding } from '../../core/findings/ranked-findings.ts';
import { useView } from '../../state/stores.ts';
import { useBandsStore } from '../plot/bands.ts';
import { bandsOf } from './finding-bands.ts';

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
