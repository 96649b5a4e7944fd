import { ChevronDown } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { formatBytes, formatExactBytes } from '../../../base/format.ts';
import { type CardHistory, KINDS, kindLabel } from '../../../device/model/card.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores } from '../../../state/stores.ts';
import type { PlotStrip, StripHost } from '../../plot/plot-controller.ts';
import { useQuery } from '../../shared/use-query.ts';
import { cardColor } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { CardStrip, LABEL } from './card-strip.ts';

/** What the rows need, and the strip that draws them once the plot is there. */
export function useCardStrip() {
  const { view } = useStores();
  const surface = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const strip = useRef<CardStrip>(undefined);
  const [isOpen, setIsOpen] = useState(true);
  /** Undefined without a ledger: nothing is shown. */
  const history = useQuery('card', {}).value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that were folded are painted anew
  useEffect(() => strip.current?.setHistory(history), [history, isOpen]);
  const makeStrip = (host: StripHost): PlotStrip | undefined => {
    if (canvas.current === null || surface.current === null) return undefined;
    const pick = (event: EventIndex) => view.commit({ cursor: event });
    strip.current = new CardStrip(surface.current, canvas.current, host, pick);
    strip.current.setHistory(history);
    return strip.current;
  };
  const onToggle = () => setIsOpen(!isOpen);
  return { history, isOpen, onToggle, surface, canvas, makeStrip };
}

type CardRowsProps = Omit<ReturnType<typeof useCardStrip>, 'makeStrip'>;

/** Rows below the plot: the whole card, and what the colors mean. The canvas is there before the ledger is. */
export function CardRows({ history, isOpen, onToggle, surface, canvas }: CardRowsProps) {
  const isShown = history !== undefined && isOpen;
  const totalBytes = history?.samples.at(-1)?.totalBytes ?? 0;
  return (
    <>
      {history !== undefined && (
        <div className="plot-below-head card-head">
          <button
            type="button"
            className="track-toggle"
            aria-expanded={isOpen}
            title="The whole card, as vramscope.record() sampled it: what the allocator does not see"
            onClick={onToggle}
          >
            <ChevronDown size={12} aria-hidden /> the card
          </button>
          {isOpen && <span title={formatExactBytes(totalBytes)}>{formatBytes(totalBytes)}</span>}
        </div>
      )}
      <div className="plot-below card-rows" hidden={history === undefined} data-open={isOpen}>
        <div
          ref={surface}
          className="card-surface"
          hidden={!isShown}
          aria-label={LABEL}
          role="application"
          tabIndex={isShown ? 0 : -1}
          data-testid="card-strip"
        >
          <canvas ref={canvas} />
        </div>
        {isShown && <CardLegend history={history} />}
      </div>
    </>
  );
}

function CardLegend({ history: { samples } }: { readonly history: CardHistory }) {
  const theme = useTheme();
  const rows = samples.flatMap((sample) => sample.rows);
  const shown = KINDS.filter((kind) => rows.some((row) => row.kind === kind && row.bytes !== 0));
  return (
    <ul className="row card-legend" aria-label="Rows of the card">
      {shown.map((kind) => (
        <li key={kind}>
          <span
            className="card-swatch"
            data-kind={kind}
            style={{ color: cardColor(theme, kind) ?? 'transparent' }}
            aria-hidden
          />
          {kindLabel(kind, rows)}
        </li>
      ))}
    </ul>
  );
}
