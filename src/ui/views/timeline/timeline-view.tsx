import './timeline.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import { annotationTracks } from '../../../device/model/annotations.ts';
import { useStores } from '../../../state/stores.ts';
import { Plot } from '../../plot/plot.tsx';
import type { StripHost } from '../../plot/plot-controller.ts';
import { useOverlayStore } from '../../plot/plot-source.ts';
import { useDevice, useServices } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { timelineSource } from './timeline-source.ts';
import { CounterReadout, TimelineToolbar } from './timeline-toolbar.tsx';
import { TRACK_HEIGHT, LABEL as TRACKS_LABEL, TrackStrip } from './track-strip.ts';

const NO_ANNOTATIONS = annotationTracks([]);

/** A button shows up to MAX_TRACKS levels; the wheel reaches the others. */
const TRACKS_AT_FIRST = 4;
const MAX_TRACKS = 12;

const HINT = `Every allocation is a band as tall as its block, the oldest at the bottom. Arrow keys
pan, plus and minus zoom, F shows all, brackets step through events, Enter pins the newest
allocation at the event, Shift with arrow up and down pins its neighbors. The side panel
shows its details.`;

export function View() {
  const { info, device } = useDevice();
  const { session } = useServices();
  const { view } = useStores();
  const overlays = useOverlayStore();
  const source = useMemo(
    () =>
      timelineSource(
        device,
        session,
        () => view.getState().view,
        () => overlays.getState().limitBytes,
      ),
    [device, session, view, overlays],
  );
  const canvas = useRef<HTMLCanvasElement>(null);
  const surface = useRef<HTMLDivElement>(null);
  const tracks = useRef<TrackStrip>(undefined);
  const strip = (host: StripHost) => {
    if (canvas.current === null || surface.current === null) return undefined;
    tracks.current = new TrackStrip(surface.current, canvas.current, host);
    return tracks.current;
  };
  const annotations = useQuery('annotations', {}).value ?? NO_ANNOTATIONS;
  const levels = annotations.first.length - 1;
  const [areAllShown, setAreAllShown] = useState(false);
  const shown = Math.min(levels, areAllShown ? MAX_TRACKS : TRACKS_AT_FIRST);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a track more or less is painted anew
  useEffect(() => tracks.current?.setAnnotations(annotations), [annotations, shown, info]);
  return (
    <section className="view" aria-label="Timeline">
      <TimelineToolbar />
      <Plot
        source={source}
        strip={strip}
        label="Memory over time"
        kind="stacked timeline"
        hint={HINT}
        testId="timeline"
        figures={<CounterReadout />}
      >
        {levels > 0 && levels <= TRACKS_AT_FIRST && (
          <div className="track-head plot-above-head">annotations</div>
        )}
        {levels > TRACKS_AT_FIRST && (
          <button
            type="button"
            className="track-head plot-above-head track-toggle"
            aria-expanded={areAllShown}
            title={`Annotations on ${formatCount(levels)} levels; scroll over them to see all`}
            onClick={() => setAreAllShown(!areAllShown)}
          >
            {areAllShown ? 'fewer' : `${formatCount(levels - TRACKS_AT_FIRST)} more`}
          </button>
        )}
        <div
          ref={surface}
          className="plot-above tracks"
          style={{ height: shown * TRACK_HEIGHT }}
          aria-label={TRACKS_LABEL}
          role="application"
          tabIndex={levels > 0 ? 0 : -1}
        >
          <canvas ref={canvas} />
        </div>
      </Plot>
    </section>
  );
}
