/** What stands in the cells of the table of settings. */
import type { SimulatedOom } from '../../../allocator/simulator/types.ts';
import { formatBytes, formatCount, formatExactBytes } from '../../../base/format.ts';
import { failureText } from '../../../output/report/what-if-citation.ts';
import type { CardFit } from '../../../worker/analysis/what-if-handler.ts';
import { cardText, cardTitle, settingName } from './labels.ts';

/** Breaks between options, not within their names. */
export function SettingText({ settings }: { readonly settings: string }) {
  if (settings === '') return <span>{settingName(settings)}</span>;
  const options = settings.split(/(?<=,)/);
  return (
    <code>
      {options.map((option) => (
        <span key={option}>
          {option}
          <wbr />
        </span>
      ))}
    </code>
  );
}

interface BarProps {
  readonly run: { readonly peakReservedBytes: number; readonly peakAllocatedBytes: number };
  /** Bytes of the longest bar; what is longer is cut. */
  readonly most: number;
  /** To say the difference to; undefined for the recorded run itself. */
  readonly recordedBytes: number | undefined;
  /** It ran out of memory: less than recorded is nothing saved. */
  readonly hasFailed?: boolean;
}

export function Bar({ run, most, recordedBytes, hasFailed = false }: BarProps) {
  const { peakReservedBytes, peakAllocatedBytes } = run;
  const percent = (bytes: number) => `${most === 0 ? 0 : Math.min(100, (100 * bytes) / most)}%`;
  const title = `${formatExactBytes(peakReservedBytes)} reserved, ${formatExactBytes(peakAllocatedBytes)} allocated at the peaks`;
  return (
    <div className="whatif-bar-cell" title={title}>
      <span className="whatif-bar" data-cut={peakReservedBytes > most || undefined} aria-hidden>
        <span className="whatif-bar-reserved" style={{ width: percent(peakReservedBytes) }} />
        <span className="whatif-bar-allocated" style={{ width: percent(peakAllocatedBytes) }} />
        {recordedBytes !== undefined && (
          <span className="whatif-bar-mark" style={{ left: percent(recordedBytes) }} />
        )}
      </span>
      <span className="figure">{formatBytes(peakReservedBytes)}</span>
      {recordedBytes !== undefined && !hasFailed && (
        <Difference bytes={peakReservedBytes - recordedBytes} />
      )}
    </div>
  );
}

function Difference({ bytes }: { readonly bytes: number }) {
  if (bytes === 0) return <span className="figure dim">the same</span>;
  const text = `${bytes > 0 ? '+' : '−'}${formatBytes(Math.abs(bytes))}`;
  return (
    <span className="figure" data-tone={bytes > 0 ? 'danger' : 'good'}>
      {text}
    </span>
  );
}

export function CardCell({ card }: { readonly card: CardFit | undefined }) {
  if (card === undefined) return <td className="figure dim">…</td>;
  return (
    <td className="figure" title={cardTitle(card)}>
      {cardText(card)}
      {card.retries > 0 && <span className="whatif-slow"> slow</span>}
    </td>
  );
}

export function OomCell({ ooms }: { readonly ooms: readonly SimulatedOom[] }) {
  const last = ooms.at(-1);
  if (last === undefined) return <td className="figure">0</td>;
  return (
    <td className="figure" data-tone="danger" title={`Out of memory ${failureText(last)}`}>
      {last.isRecorded ? formatCount(ooms.length) : `≥ ${formatCount(ooms.length)}`}
    </td>
  );
}

export function CallsCell({ allocs, frees }: { readonly allocs: number; readonly frees: number }) {
  return (
    <td
      className="figure"
      title={`${formatCount(allocs)} to get memory, ${formatCount(frees)} to give it back`}
    >
      {formatCount(allocs + frees)}
    </td>
  );
}
