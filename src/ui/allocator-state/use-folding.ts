import { useCallback, useMemo, useState } from 'react';
import type { SegmentGroup } from '../../core/allocator-state/segment-groups.ts';
import { StateRows } from './state-rows.ts';

/** Which groups are folded; it stays so from event to event, also for a group that comes back. */
export function useFolding(groups: readonly SegmentGroup[]) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => new StateRows(groups, folded), [groups, folded]);
  const toggle = useCallback((key: string) => {
    setFolded((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  const areAllFolded = groups.length > 0 && groups.every(({ key }) => folded.has(key));
  const toggleAll = () =>
    setFolded(areAllFolded ? new Set() : new Set(groups.map(({ key }) => key)));
  return { rows, toggle, areAllFolded, toggleAll };
}
