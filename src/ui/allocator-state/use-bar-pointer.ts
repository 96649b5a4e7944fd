import { type RefObject, useEffect, useRef } from 'react';
import type { PinSite } from '../../core/allocator-state/describe-state.ts';
import type { SegmentHit } from '../../core/allocator-state/segment-bars.ts';
import type { SegmentOrder } from '../../core/allocator-state/segment-groups.ts';
import { formatBytes, formatExactBytes } from '../../core/base/format.ts';
import type { StateHitRequest } from '../../engine/handlers/allocator-state.ts';
import { useStores } from '../../state/stores.ts';
import { hitContent, Tooltip, type TooltipContent } from '../plot/tooltip.ts';
import { LatestOnly } from '../shared/latest-only.ts';
import { useAsk, type WithoutDevice } from '../shared/use-query.ts';
import type { BarPlace } from './segment-bar.tsx';

type HitRequest = WithoutDevice<StateHitRequest>;

/** The state on screen. */
export interface ShownState {
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
  const ask = useAsk();
  const { view } = useStores();
  const { event, order } = shown;
  const pointer = useRef<BarPlace>(undefined);
  const asking = useRef<Pointing>(undefined);
  useEffect(() => {
    if (element.current === null) return;
    const tooltip = new Tooltip(element.current);
    const latest = new LatestOnly<HitRequest, SegmentHit | undefined>({
      ask: (request, signal) => ask('stateHit', request, { signal }),
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
  }, [ask, element]);
  const requestAt = ({ from, to }: BarPlace, position: number): HitRequest => {
    return { event, order, position, from, to };
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
      const hit = ask('stateHit', requestAt(at, position));
      select(hit.then((found) => (found?.kind === 'blocks' ? found.hit.label : undefined)));
    },
    pickSite({ allocation }) {
      select(ask('allocation', { index: allocation }).then(({ label }) => label));
    },
  };
}

interface Pointing {
  readonly tooltip: Tooltip;
  readonly latest: LatestOnly<HitRequest, SegmentHit | undefined>;
}

function contentOf(hit: SegmentHit): TooltipContent {
  if (hit.kind === 'blocks') return hitContent(hit.hit);
  return {
    title: `${formatBytes(hit.sizeBytes)} free`,
    label: hit.addressHex,
    lines: [formatExactBytes(hit.sizeBytes)],
  };
}
