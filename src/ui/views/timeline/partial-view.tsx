import './partial-view.css';
import { type ReactNode, useEffect, useRef } from 'react';
import { formatBytes, formatCount } from '../../../base/format.ts';
import { LatestOnly } from '../../../base/latest-only.ts';
import { DEFAULT_VIEW } from '../../../state/view-store.ts';
import type { PartialState } from '../../../worker/protocol.ts';
import { putFrame } from '../../plot/canvas.ts';
import { useServices } from '../../shared/services.ts';
import { paletteFor } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';

interface PartialViewProps {
  readonly partial: PartialState;
  /** The file ended in damage: nothing more comes. */
  readonly isCut: boolean;
  readonly children: ReactNode;
}

/** The timeline of a file that is still being read, and a note about what is missing. */
export function PartialView({ partial, isCut, children }: PartialViewProps) {
  return (
    <main className="partial">
      {children}
      <p className={isCut ? 'partial-note partial-cut' : 'partial-note'} data-testid="partial-note">
        {noteOf(partial, isCut)}
      </p>
      <PartialPicture partial={partial} />
    </main>
  );
}

function PartialPicture({ partial }: Pick<PartialViewProps, 'partial'>) {
  const { session, timings } = useServices();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const latest = useRef<LatestOnly>(undefined);
  // Each report of progress brings a copy of the state, but new events only now and then.
  const { trace, events } = partial;
  useEffect(() => {
    const made = new LatestOnly();
    latest.current = made;
    return () => made.cancel();
  }, []);
  useEffect(() => {
    const { colorBy, siteColors } = DEFAULT_VIEW;
    const palette = paletteFor(theme, colorBy, siteColors);
    const draw = async () => {
      const { clientWidth = 0, clientHeight = 0 } = canvas.current ?? {};
      const [width, height] = [clientWidth, clientHeight].map((css) =>
        Math.max(1, Math.round(css * devicePixelRatio)),
      ) as [number, number];
      const frame = await session.partialFrame({ trace, width, height, palette });
      if (canvas.current !== null) putFrame(canvas.current, frame);
      timings.reach('firstPixels');
    };
    // Errors in the file are shown with its progress.
    if (events > 0) latest.current?.run(draw).catch(() => undefined);
  }, [session, timings, theme, trace, events]);
  return (
    <canvas
      ref={canvas}
      className="partial-picture"
      data-testid="partial-timeline"
      role="img"
      aria-label="Memory over time, as far as it has been read"
    />
  );
}

function noteOf({ events, peaks, isExact }: PartialState, isCut: boolean): string {
  const count = formatCount(events);
  const shown = isCut
    ? `Partial: the ${count} events before the error. What came after them is not in the file.`
    : `The first ${count} events. The rest is not shown yet.`;
  const peak = `Up to ${formatBytes(peaks.activeBytes.bytes)} active.`;
  if (isExact) return `${shown} ${peak}`;
  return `${shown} ${peak} Recording began after memory was allocated: that memory is missing here, and blocks may be larger than drawn.`;
}
