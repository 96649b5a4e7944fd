import './addresses.css';
import { useMemo, useRef, useState } from 'react';
import type { AddressSlots } from '../../core/address-map/address-layout.ts';
import { NothingReserved } from '../allocator-state/nothing-reserved.tsx';
import { PlotArea } from '../plot/plot-area.tsx';
import type { PlotPlace } from '../plot/plot-source.ts';
import type { StripHost } from '../plot/plot-strip.ts';
import { useFailureReport, usePlot } from '../plot/use-plot.ts';
import { useDevice } from '../shared/device-context.ts';
import { useServices } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
import { addressSource } from './address-source.ts';
import { AddressToolbar } from './address-toolbar.tsx';
import { FreeStrip } from './free-strip.ts';
import { useEvidence } from './use-evidence.ts';

const HINT = `Every allocation at its address, with the free memory between them; addresses that were
never reserved are left out. Arrow keys pan, plus and minus zoom, with Alt the addresses, F shows all,
brackets step through events, Enter pins the newest allocation at the event, Shift with arrow up and
down pins what lies above and below it, gaps too.`;

/** Memory by address over events or time: blocks, and the gaps between them. */
export function AddressesView() {
  const { value, failure } = useQuery('addressSlots', {});
  if (failure !== undefined) {
    return (
      <div className="blank" role="alert">
        <h2>The address map cannot be drawn</h2>
        <p>{failure}</p>
      </div>
    );
  }
  if (value === undefined) return <div className="blank" aria-busy />;
  if (value.totalBytes === 0) return <NothingReserved />;
  return <AddressPlot slots={value} />;
}

function AddressPlot({ slots }: { readonly slots: AddressSlots }) {
  const { device } = useDevice();
  const { session } = useServices();
  const onError = useFailureReport();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [place, setPlace] = useState<PlotPlace>();
  const highlight = useEvidence();
  const source = useMemo(
    () => addressSource({ device, session, slots, highlight, onPinned: setPlace }),
    [device, session, slots, highlight],
  );
  const strip = (host: StripHost) =>
    canvas.current === null
      ? undefined
      : new FreeStrip({
          canvas: canvas.current,
          deviceIndex: device.index,
          session,
          host,
          onError,
        });
  const plot = usePlot({ source, strip });
  return (
    <section className="plot-view" aria-label="Addresses">
      <AddressToolbar
        slots={slots}
        readout={plot.refs.readout}
        place={place}
        highlight={highlight}
        onFit={() => plot.navigation()?.fit()}
      />
      <PlotArea plot={plot} label="Memory by address over time" kind="address map" hint={HINT}>
        <div className="plot-below-head free-head">free</div>
        <canvas
          ref={canvas}
          className="plot-below free-strip"
          role="img"
          aria-label="Free memory over time, and its largest unbroken range"
        />
      </PlotArea>
    </section>
  );
}
