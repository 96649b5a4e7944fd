import './timeline.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { CounterName } from '../../../allocator/replay/types.ts';
import { formatCount } from '../../../base/format.ts';
import { annotationTracks } from '../../../device/model/annotations.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { ColorLegend, ColorSelect } from '../../panels/legend/color-legend.tsx';
import { Plot } from '../../plot/plot.tsx';
import type { PlotStrip, StripHost } from '../../plot/plot-controller.ts';
import { AxisSwitch, FitButton } from '../../plot/plot-controls.tsx';
import { useOverlayStore } from '../../plot/plot-source.ts';
import { Segmented } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';
import { useDevice, useServices } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { plotStyle } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { CardRows, useCardStrip } from './card-rows.tsx';
import { timelineSource } from './timeline-source.ts';
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
  const card = useCardStrip();
  const strip = (host: StripHost): PlotStrip | undefined => {
    if (canvas.current === null || surface.current === null) return undefined;
    tracks.current = new TrackStrip(surface.current, canvas.current, host);
    const strips: (PlotStrip | undefined)[] = [tracks.current, card.makeStrip(host)];
    return {
      paint(...look) {
        for (const one of strips) one?.paint(...look);
      },
      destroy() {
        for (const one of strips) one?.destroy();
      },
    };
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
            annotations: {areAllShown ? 'fewer' : `${formatCount(levels - TRACKS_AT_FIRST)} more`}
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
        <CardRows {...card} />
      </Plot>
    </section>
  );
}

function TimelineToolbar() {
  return (
    <div className="plot-toolbar">
      <div className="row toolbar-row">
        <AxisSwitch />
        <FitButton />
        <ColorSelect />
        <StackOrderSwitch />
      </div>
      <ColorLegend />
    </div>
  );
}

const STACK_ORDERS = [
  { value: 'time', label: 'Blocks', about: 'Blocks in the order in which they were allocated' },
  {
    value: 'class',
    label: 'Bands',
    about: 'One band for each class, as export_memory_timeline drew it',
  },
] as const;

/** Only by class: other colorings have too many colors to follow as bands. */
function StackOrderSwitch() {
  const { view } = useStores();
  const isByClass = useView(({ colorBy }) => colorBy === 'class');
  const stackOrder = useView((state) => state.stackOrder);
  if (!isByClass) return undefined;
  return (
    <Segmented
      label="Order"
      value={stackOrder}
      options={STACK_ORDERS}
      onChange={(next) => view.commit({ stackOrder: next })}
    />
  );
}

/** Switches the lines, and shows their values and the event at the pointer or the cursor (see writeReadout). */
export function CounterReadout() {
  const { view } = useStores();
  const lines = useView((state) => state.lines);
  const colors = plotStyle(useTheme()).lines;
  const toggle = (name: CounterName) =>
    view.commit({
      lines: lines.includes(name) ? lines.filter((line) => line !== name) : [...lines, name],
    });
  return (
    <div className="row plot-readout">
      {COUNTERS.map(({ name, label, about }) => (
        <button
          key={name}
          type="button"
          className="counter hoverable"
          aria-pressed={lines.includes(name)}
          aria-label={`${label} line`}
          title={about}
          onClick={() => toggle(name)}
        >
          <span className="line-swatch" style={{ background: colors[name] }} aria-hidden />
          <span className="one-line dim counter-name">{label}</span>
          <span className="counter-value" data-readout={name} />
        </button>
      ))}
      <span className="one-line event-readout">
        <span data-readout="event" />
        <span data-readout="time" />
      </span>
    </div>
  );
}
