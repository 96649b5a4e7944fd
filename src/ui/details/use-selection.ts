import { useEffect, useState } from 'react';
import type { AllocationDetails, DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import { useView } from '../../state/stores.ts';
import { useServices } from '../shared/services.ts';

export type Selection =
  | { readonly kind: 'none' }
  /** The label is of another snapshot or device, or made by hand. */
  | { readonly kind: 'missing'; readonly label: string }
  | { readonly kind: 'found'; readonly details: AllocationDetails };

const NONE: Selection = { kind: 'none' };

/** The pinned allocation. While the next one is looked up the last one stays, so nothing flickers. */
export function useSelection(info: SessionInfo, device: DeviceInfo): Selection {
  const { session } = useServices();
  const label = useView((view) => view.selection);
  const [found, setFound] = useState<Selection>(NONE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot has other allocations under the same label
  useEffect(() => {
    if (label === undefined) return;
    let isLatest = true;
    const request = { deviceIndex: device.index, label };
    async function find(): Promise<Selection> {
      const index = await session.findAllocation(request);
      if (index === undefined) return { kind: 'missing', label: request.label };
      const details = await session.allocation({ deviceIndex: request.deviceIndex, index });
      return { kind: 'found', details };
    }
    find().then(
      (selection) => isLatest && setFound(selection),
      // The worker is gone: the timeline says so, here is simply nothing to show.
      () => isLatest && setFound(NONE),
    );
    return () => {
      isLatest = false;
    };
  }, [session, info, device.index, label]);
  return label === undefined ? NONE : found;
}
