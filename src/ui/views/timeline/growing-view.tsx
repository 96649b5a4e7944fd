import './growing.css';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import { release } from '../../../base/table.ts';
import type { TimelineFrame } from '../../../draw/timeline/types.ts';
import { useStores } from '../../../state/stores.ts';
import { createViewStore, DEFAULT_VIEW, type ViewStore } from '../../../state/view-store.ts';
import type { GrowthInfo } from '../../../worker/live/growing-file.ts';
import type { RecycleRequest, SessionApi } from '../../../worker/protocol.ts';
import type { FrameRequest } from '../../../worker/timeline-renderer.ts';
import { PlotOf } from '../../plot/plot.tsx';
import type { PlotController } from '../../plot/plot-controller.ts';
import type { PlotSource } from '../../plot/plot-source.ts';
import { useServices } from '../../shared/services.ts';
import { GrowingDevice } from './growing-device.ts';
import { timelineSource } from './timeline-source.ts';

const HINT = `Every allocation that has been read is a band as tall as its block, the oldest at the bottom.
Arrow keys pan, plus and minus zoom, F shows all.`;

export interface GrowingViewProps {
  readonly growth: GrowthInfo;
  /** Nothing more comes: the file ended in a fault. */
  readonly isCut: boolean;
  /** How the reading goes. */
  readonly children: ReactNode;
}

/** The timeline of a file that is being read: what there is of it, and what is missing. */
export function GrowingView({ growth, isCut, children }: GrowingViewProps) {
  return (
    <main className="growing">
      {children}
      {/* Another trace is another picture. */}
      <GrowingPlot key={growth.trace} growth={growth} isCut={isCut} />
    </main>
  );
}

function GrowingPlot({ growth, isCut }: Omit<GrowingViewProps, 'children'>) {
  const { session, marks } = useServices();
  const [device] = useState(() => new GrowingDevice(growth));
  const view = useOwnView(growth.trace);
  const source = useMemo(() => growingSource(device, session, view), [device, session, view]);
  const asked = useMemo(() => ({ crosshair: askGrowing(session).crosshair }), [session]);
  const onPainted = useCallback(() => marks.reach('firstPixels'), [marks]);
  const plot = useRef<Pick<PlotController, 'refresh'>>(null);
  useEffect(() => {
    device.growth = growth;
    // A picture that is on its way asks for the next one when it is there.
    if (!device.isAwaited) plot.current?.refresh();
  }, [device, growth]);
  return (
    <section className="view fill" aria-label="Timeline of what has been read">
      <p className={isCut ? 'growing-note growing-cut' : 'growing-note'} data-testid="growing-note">
        {noteOf(growth, isCut)}
      </p>
      <PlotOf
        ref={plot}
        of={{ info: device, device, session: asked, view, onPainted, onError: ignore }}
        source={source}
        label="Memory over time, as far as it has been read"
        kind="stacked timeline"
        hint={HINT}
        testId="growing-timeline"
        figures={
          <div className="row plot-readout">
            <span className="one-line event-readout" data-readout="event" />
          </div>
        }
      />
    </section>
  );
}

/** What one sees, and what one does not see yet. */
function noteOf({ events, isExact }: GrowthInfo, isCut: boolean): string {
  const count = formatCount(events);
  const shown = isCut
    ? `Partial: the ${count} events before the error. What came after them is not in the file.`
    : `The first ${count} events. The rest is not shown yet.`;
  if (isExact) return shown;
  return `${shown} Recording began after memory was allocated: that memory is missing here, and blocks may be larger than drawn.`;
}

/**
 * A view of its own: it is in no link. When the file has been read, the page goes on with the part that is
 * looked at.
 */
function useOwnView(deviceIndex: number): ViewStore {
  const { session, view: page } = useStores();
  const [view] = useState(() => createViewStore({ ...DEFAULT_VIEW, deviceIndex }));
  useEffect(
    () => () => {
      const state = session.getState();
      const { x, y } = view.getState().view;
      const next = page.getState().view;
      const device = state.phase === 'ready' ? state.info.devices[next.deviceIndex] : undefined;
      const isSame = device?.device === deviceIndex && device.kind === 'cuda';
      const isFree = next.x === 'all' && next.y === 'fit' && next.axis === 'event';
      if (isSame && isFree && (x !== 'all' || y !== 'fit')) page.adjust({ x, y });
    },
    [session, view, page, deviceIndex],
  );
  return view;
}

/** A request that is for as many events asks for the same picture. */
interface GrowingRequest extends FrameRequest {
  readonly events: number;
}

function growingSource(
  device: GrowingDevice,
  session: SessionApi,
  view: ViewStore,
): PlotSource<GrowingRequest, TimelineFrame> {
  const source = timelineSource(device, askGrowing(session), () => view.getState().view);
  return {
    ...source,
    frame: async (request, signal) => {
      device.isAwaited = true;
      try {
        return await source.frame(request, signal);
      } finally {
        device.isAwaited = false;
      }
    },
    heights: () => {
      const { activeBytes, reservedBytes } = device.peaks;
      const isExact = device.growth.isExact;
      const reachBytes = isExact
        ? Math.max(activeBytes.bytes, reservedBytes.bytes)
        : activeBytes.bytes;
      return { reachBytes, fittedBytes: reachBytes };
    },
    // What lies left of the last event that was read does not change.
    request: (viewport, look) => ({
      ...source.request(viewport, look),
      events: Math.min(device.events, Math.ceil(viewport.x1)),
    }),
  };
}

/** The questions of a timeline, asked about the file that is read. */
function askGrowing(session: SessionApi) {
  return {
    frame: (...[request, call]: Parameters<SessionApi['frame']>) =>
      session.growingFrame(request, call),
    hit: (...[request]: Parameters<SessionApi['hit']>) =>
      session.growingHit(request).catch(untilReplaced),
    crosshair: (...[request]: Parameters<SessionApi['crosshair']>) =>
      session.growingCrosshair(request).catch(untilReplaced),
    // Each picture of a growing file has pixels of its own, 4 MB of them.
    recycle: async ({ pixels }: RecycleRequest) => {
      release(pixels);
      return undefined;
    },
    stackBytes: async () => 0,
  };
}

/** Where the reading ends while something is asked, the picture goes, and with it the question. */
const untilReplaced = (): Promise<never> => new Promise(() => undefined);

/** What goes wrong with the file is said where its reading is shown. */
const ignore = () => undefined;
