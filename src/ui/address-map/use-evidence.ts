import { useMemo } from 'react';
import type { AddressHighlight } from '../../engine/handlers/address-map.ts';
import { useView } from '../../state/stores.ts';
import { useFindings } from '../shared/use-findings.ts';
import { useQuery } from '../shared/use-query.ts';

/** Rows of the selected finding's evidence, and where its gaps are; undefined while there are none. */
export function useEvidence(): AddressHighlight | undefined {
  const id = useView((view) => view.finding);
  const { findings } = useFindings();
  const finding = findings.find((one) => one.id === id);
  const evidence = finding?.evidence;
  const gaps = evidence?.gaps ?? [];
  const question =
    finding === undefined || gaps.length === 0 ? undefined : { state: finding.events.last, gaps };
  const { value, isCurrent } = useQuery('gapBands', question);
  // Without its gaps a finding's blocks are still worth seeing; the plot itself says what failed.
  const bands = question !== undefined && isCurrent ? value : undefined;
  return useMemo(() => {
    if (evidence === undefined) return undefined;
    const { allocations } = evidence;
    if (allocations.length === 0 && bands === undefined) return undefined;
    return { allocations, bands: bands ?? [] };
  }, [evidence, bands]);
}
