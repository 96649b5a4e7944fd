import './address-map.css';
import { useMemo, useRef, useState } from 'react';
import type { AddressSlots } from '../../../draw/address-map/address-layout.ts';
import { useView } from '../../../state/stores.ts';
import type { AddressHighlight, PixelRequest } from '../../../worker/protocol.ts';
import { ColorLegend, ColorSelect } from '../../panels/legend/color-legend.tsx';
import { Plot } from '../../plot/plot.tsx';
import type { StripHost } from '../../plot/plot-controller.ts';
import { AxisSwitch, ColorKey, FitButton } from '../../plot/plot-controls.tsx';
import { Blank } from '../../shared/facts.tsx';
import { NothingReserved } from '../../shared/segment-content.tsx';
import { useDevice, useFindings, useServices } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { ViewModes } from '../../shared/view-modes.tsx';
import { useTheme } from '../../theme/use-theme.ts';
import { FreeFacts, PinnedAddress, SlotKinds } from './address-facts.tsx';
import {
  addressColors,
  addressSource,
  highlightColors,
  MOST_OUTLINED,
  outlinedText,
} from './address-source.ts';
import { FreeStrip } from './free-strip.ts';

const HINT = `Every allocation at its address, with the free memory between them; addresses that were
never reserved are left out. Arrow keys pan, plus and minus zoom, with Alt the addresses, F shows all,
brackets step through events, Enter pins the newest allocation at the event, Shift with arrow up and
down pins what lies above and below it, including gaps.`;

export function View() {
  const { value, failure } = useQuery('addressSlots', {});
  if (failure !== undefined)
    return <Blank isAlert title="The address map cannot be drawn" text={failure} />;
  if (value === undefined) return <div className="blank" aria-busy />;
  if (value.totalBytes === 0)
    return (
      <div>
        <ViewModes />
        <NothingReserved />
      </div>
    );
  return <AddressPlot slots={value} />;
}

function AddressPlot({ slots }: { readonly slots: AddressSlots }) {
  const { device } = useDevice();
  const { session } = useServices();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [place, setPlace] = useState<PixelRequest>();
  const { highlight, blocks } = useEvidence();
  const source = useMemo(
    () => addressSource({ device, session, slots, highlight, onPinned: setPlace }),
    [device, session, slots, highlight],
  );
  const strip = (host: StripHost) =>
    canvas.current === null ? undefined : new FreeStrip(canvas.current, host);
  return (
    <section className="view" aria-label="Addresses">
      <div className="plot-toolbar">
        <div className="row toolbar-row">
          <ViewModes />
          <AxisSwitch />
          <FitButton field="addresses" />
          <ColorSelect />
          <SlotKinds slots={slots} />
        </div>
        <FreeFacts slots={slots} />
        <div className="free-row">
          <PinnedAddress slots={slots} place={place} />
          <span className="one-line event-readout" data-readout="event" />
          <FreeLegend highlight={highlight} blocks={blocks} />
        </div>
        <ColorLegend />
      </div>
      <Plot
        source={source}
        strip={strip}
        label="Memory by address over time"
        kind="address map"
        hint={HINT}
      >
        <div className="plot-below-head free-head">free</div>
        <canvas
          ref={canvas}
          className="plot-below free-strip"
          role="img"
          aria-label="Free memory over time, and its largest unbroken range"
        />
      </Plot>
    </section>
  );
}

/** The selected finding's blocks and gaps; undefined if it has none. `blocks`: also those without an outline. */
function useEvidence(): { readonly highlight?: AddressHighlight; readonly blocks: number } {
  const id = useView((view) => view.finding);
  const { findings } = useFindings();
  const finding = findings.find((one) => one.id === id);
  const evidence = finding?.evidence;
  const gaps = evidence?.gaps ?? [];
  const question =
    finding === undefined || gaps.length === 0 ? undefined : { state: finding.events.last, gaps };
  const { value, isCurrent } = useQuery('gapHighlights', question);
  // A finding's blocks are worth showing without its gaps; the plot itself reports failures.
  const drawn = question !== undefined && isCurrent ? value : undefined;
  const highlight = useMemo(() => {
    if (evidence === undefined) return undefined;
    const allocations = [...evidence.allocations.subarray(0, MOST_OUTLINED)];
    if (allocations.length === 0 && drawn === undefined) return undefined;
    return { allocations, gaps: drawn ?? [] };
  }, [evidence, drawn]);
  return { ...(highlight && { highlight }), blocks: evidence?.allocations.length ?? 0 };
}

interface FreeLegendProps {
  readonly highlight: AddressHighlight | undefined;
  readonly blocks: number;
}

function FreeLegend({ highlight, blocks: count }: FreeLegendProps) {
  const theme = useTheme();
  const { gap, largest, free } = addressColors(theme);
  const colors = highlightColors(theme);
  const blocks = { color: colors.block, label: outlinedText(count) };
  const gaps = { color: colors.gap, label: 'its gaps' };
  return (
    <ColorKey
      label="Free memory"
      entries={[
        { color: gap, label: 'reserved, free' },
        { color: largest, label: 'largest free range' },
        { color: free, label: 'total free' },
        ...((highlight?.allocations.length ?? 0) > 0 ? [blocks] : []),
        ...((highlight?.gaps.length ?? 0) > 0 ? [gaps] : []),
      ]}
    />
  );
}
