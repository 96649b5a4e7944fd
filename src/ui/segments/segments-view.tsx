import './segments.css';
import { useMemo, useState } from 'react';
import { SEGMENT_CLASSES, type SegmentClass } from '../../core/address-map/segment-index.ts';
import type { SegmentLife } from '../../core/address-map/segment-lives.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { AxisSwitch } from '../plot/axis-switch.tsx';
import { ColorKey } from '../plot/color-key.tsx';
import { FitButton } from '../plot/fit-button.tsx';
import { PlotArea } from '../plot/plot-area.tsx';
import { type PlotHandle, usePlot } from '../plot/use-plot.ts';
import { useServices } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
import type { ViewProps } from '../shared/view-props.ts';
import { useTheme } from '../theme/use-theme.ts';
import { segmentColor } from './segment-palette.ts';
import { SegmentPanel } from './segment-panel.tsx';
import { segmentSource } from './segment-source.ts';

const HINT = `Every segment as a band as high as it is large, the oldest at the bottom; the top is the
reserved memory. Arrow keys pan, plus and minus zoom, F shows all, brackets step through events, Enter
pins the newest segment at the event, Shift with arrow up and down pins its neighbours. What is pinned
is told of below the plot.`;

/** Reserved memory over events or time, segment by segment. */
export function SegmentsView(props: ViewProps) {
  const { device } = props;
  if (device.peaks.reservedBytes.bytes > 0) return <SegmentPlot {...props} />;
  return (
    <div className="blank">
      <h2>No segments are known</h2>
      <p>
        The trace has no segment events and the file lists no segments at its end, so what this
        device had reserved cannot be told. The other views show its allocations.
      </p>
    </div>
  );
}

function SegmentPlot({ info, device, selected }: ViewProps) {
  const { session } = useServices();
  const [segment, setSegment] = useState<SegmentLife>(-1);
  const source = useMemo(
    () => segmentSource({ device, session, onPinned: setSegment }),
    [device, session],
  );
  const plot = usePlot({ info, device, selected, source });
  return (
    <section className="plot-view" aria-label="Segments">
      <SegmentToolbar {...{ info, device, plot }} />
      <PlotArea
        plot={plot}
        info={info}
        device={device}
        label="Reserved memory over time"
        kind="stacked segments"
        hint={HINT}
      />
      <SegmentPanel info={info} device={device} segment={segment} />
    </section>
  );
}

interface SegmentToolbarProps {
  readonly info: ViewProps['info'];
  readonly device: ViewProps['device'];
  readonly plot: PlotHandle;
}

function SegmentToolbar({ info, device, plot }: SegmentToolbarProps) {
  const { actions } = device;
  const hasEvents = ['segment_alloc', 'segment_map'].some((word) => (actions[word] ?? 0) > 0);
  return (
    <div className="plot-toolbar">
      <div className="toolbar-row" ref={plot.refs.readout}>
        <AxisSwitch device={device} />
        <FitButton onFit={() => plot.navigation()?.fit()} />
        <SegmentLegend info={info} device={device} />
        <span className="event-readout" data-readout="event" />
      </div>
      {!hasEvents && (
        <p className="dim">
          No segment came into being in this trace: those that are shown were there before it, and
          who made them is not in the file.
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

const askKinds = (session: SessionApi, question: { readonly deviceIndex: number }) =>
  session.segmentKinds(question);

/** The kinds of segments that the trace has; all of them until that is known. */
function SegmentLegend({ info, device }: Pick<ViewProps, 'info' | 'device'>) {
  const theme = useTheme();
  const { value = SEGMENT_CLASSES } = useQuery(askKinds, { deviceIndex: device.index }, info);
  const entries = value.map((kind) => ({ label: LABELS[kind], color: segmentColor(theme, kind) }));
  return <ColorKey label="Colours" entries={entries} />;
}
