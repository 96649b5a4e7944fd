import { type RefObject, useEffect, useRef } from 'react';
import type { PinSite } from '../../core/allocator-state/describe-state.ts';
import type { SegmentOrder } from '../../core/allocator-state/segment-groups.ts';
import type { SegmentHit } from '../../core/allocator-state/segment-hit.ts';
import { formatBytes, formatExactBytes } from '../../core/base/format.ts';
import type { StateHitRequest } from '../../engine/handlers/allocator-state.ts';
import { useStores } from '../../state/stores.ts';
import { Tooltip } from '../plot/tooltip.ts';
import { hitContent, type TooltipContent } from '../plot/tooltip-content.ts';
import { LatestOnly } from '../shared/latest-only.ts';
import { useServices } from '../shared/services.ts';
import type { BarPlace } from './segment-bar.tsx';

/** The state on screen. */
export interface ShownState {
  readonly deviceIndex: number;
  readonly event: number;
  readonly order: SegmentOrder;
}

export interface BarPointer {
  /** The pointer is over the bar of the segment at a position; undefined: over none. */
  hover(position: number, at: BarPlace | undefined): void;
  /** Selects the block that is there. */
  pick(position: number, at: BarPlace): void;
  pickSite(site: PinSite): void;
}

/** What the pointer does to the bars: says what is under it, and selects it on a click. */
export function useBarPointer(
  shown: ShownState,
  element: RefObject<HTMLDivElement | null>,
): BarPointer {
  const { session } = useServices();
  const { view } = useStores();
  const { deviceIndex, event, order } = shown;
  const pointer = useRef<BarPlace>(undefined);
  const asking = useRef<QueryClient>(undefined);
  useEffect(() => {
    if (element.current === null) return;
    const tooltip = new Tooltip(element.current);
    const latest = new LatestOnly<StateHitRequest, SegmentHit | undefined>({
      ask: (request) => session.stateHit(request),
      onAnswer: (_, hit) => {
        const at = pointer.current;
        if (at === undefined || hit === undefined) tooltip.hide();
        else tooltip.show(contentOf(hit), at.clientX, at.clientY);
      },
      // The worker is gone: the list says so.
      onError: () => tooltip.hide(),
    });
    asking.current = { tooltip, latest };
    return () => {
      latest.stop();
      tooltip.hide();
    };
  }, [session, element]);
  const requestAt = ({ from, to }: BarPlace, position: number): StateHitRequest => {
    return { deviceIndex, event, order, position, from, to };
  };
  const select = (label: Promise<string | undefined>) => {
    label.then(
      (selection) => selection !== undefined && view.commit({ selection }),
      () => undefined,
    );
  };
  return {
    hover(position, at) {
      pointer.current = at;
      if (at === undefined) asking.current?.tooltip.hide();
      else asking.current?.latest.want(requestAt(at, position));
    },
    pick(position, at) {
      const hit = session.stateHit(requestAt(at, position));
      select(hit.then((found) => (found?.kind === 'blocks' ? found.hit.label : undefined)));
    },
    pickSite({ allocation }) {
      select(session.allocation({ deviceIndex, index: allocation }).then(({ label }) => label));
    },
  };
}

interface QueryClient {
  readonly tooltip: Tooltip;
  readonly latest: LatestOnly<StateHitRequest, SegmentHit | undefined>;
}

function contentOf(hit: SegmentHit): TooltipContent {
  if (hit.kind === 'blocks') return hitContent(hit.hit);
  return {
    title: `${formatBytes(hit.sizeBytes)} free`,
    label: hit.addressHex,
    lines: [formatExactBytes(hit.sizeBytes)],
  };
}
