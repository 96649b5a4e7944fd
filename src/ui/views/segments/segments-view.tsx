import './segments.css';
import { useMemo, useState } from 'react';
import { SEGMENT_CLASSES, type SegmentClass } from '../../../draw/address-map/segment-index.ts';
import type { SegmentLife } from '../../../draw/address-map/segment-lives.ts';
import { Plot } from '../../plot/plot.tsx';
import { AxisSwitch, ColorKey, FitButton } from '../../plot/plot-controls.tsx';
import { useDevice, useServices } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { SegmentPanel } from './segment-panel.tsx';
import { segmentColor, segmentSource } from './segment-source.ts';

const HINT = `Every segment is a band as tall as its size, the oldest at the bottom; the top is the
reserved memory. Arrow keys pan, plus and minus zoom, F shows all, brackets step through events, Enter
pins the newest segment at the event, Shift with arrow up and down pins its neighbors. Details
appear below the plot.`;

/** Reserved memory over events or time, segment by segment. */
export function SegmentsView() {
  const { device } = useDevice();
  if (device.peaks.reservedBytes.bytes > 0) return <SegmentPlot />;
  return (
    <div className="blank">
      <h2>No segments are known</h2>
      <p>
        The trace has no segment events and the file lists no segments at its end, so what this
        device had reserved is unknown. The other views show its allocations.
      </p>
    </div>
  );
}

function SegmentPlot() {
  const { device } = useDevice();
  const { session } = useServices();
  const [segment, setSegment] = useState<SegmentLife>(-1);
  const source = useMemo(
    () => segmentSource({ device, session, onPinned: setSegment }),
    [device, session],
  );
  return (
    <section className="view" aria-label="Segments">
      <SegmentToolbar />
      <Plot source={source} label="Reserved memory over time" kind="stacked segments" hint={HINT} />
      <SegmentPanel segment={segment} />
    </section>
  );
}

function SegmentToolbar() {
  const { device } = useDevice();
  const { actions } = device;
  const hasEvents = ['segment_alloc', 'segment_map'].some((word) => (actions[word] ?? 0) > 0);
  return (
    <div className="plot-toolbar">
      <div className="row toolbar-row">
        <AxisSwitch />
        <FitButton />
        <SegmentLegend />
        <span className="one-line event-readout" data-readout="event" />
      </div>
      {!hasEvents && (
        <p className="dim">
          No segment was created in this trace. Those shown existed before it, so the file does not
          say which lines created them.
        </p>
      )}
    </div>
  );
}

const LABELS: Readonly<Record<SegmentClass, string>> = {
  small: 'small pool',
  large: 'large pool',
  'expandable small': 'expandable, small pool',
  'expandable large': 'expandable, large pool',
  private: 'private pools',
};

/** The kinds of segments that the trace has; all of them until that is known. */
function SegmentLegend() {
  const theme = useTheme();
  const { value = SEGMENT_CLASSES } = useQuery('segmentKinds', {});
  const entries = value.map((kind) => ({ label: LABELS[kind], color: segmentColor(theme, kind) }));
  return <ColorKey label="Colors" entries={entries} />;
}
