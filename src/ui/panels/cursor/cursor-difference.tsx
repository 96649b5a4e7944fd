import { ArrowLeftRight, Flame, X } from 'lucide-react';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
  plural,
} from '../../../base/format.ts';
import type { Crosshair } from '../../../device/model/events.ts';
import { useStores } from '../../../state/stores.ts';
import { IconButton } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';

interface CursorDifferenceProps {
  readonly second: Crosshair;
  readonly cursor: Crosshair;
}

/** What changed from the second cursor to the cursor. */
export function CursorDifference({ second, cursor }: CursorDifferenceProps) {
  const { view } = useStores();
  const events = cursor.event - second.event;
  const us = cursor.timeUs - second.timeUs;
  return (
    <section className="row cursor-difference" aria-label="From the second cursor to the cursor">
      <span className="cursor-span">
        <button
          type="button"
          className="link"
          title="Go to the second cursor"
          onClick={() => view.commit({ cursor: second.event })}
        >
          Second cursor at event {formatCount(second.event)}
        </button>
        <span title="Events from the second cursor to the cursor">
          {change(events, (count) => plural(count, 'event'))}
        </span>
        <span title="Time from the second cursor to the cursor">
          {Number.isNaN(us) ? 'time not recorded' : change(us, formatDurationUs, '+')}
        </span>
      </span>
      <dl className="row cursor-counters">
        {COUNTERS.map(({ name, label, about }) => {
          const [before, after] = [second.counters[name], cursor.counters[name]];
          return (
            <div
              key={name}
              title={`${about} ${formatBytes(before)} at the second cursor, ${formatBytes(after)} at the cursor: ${formatExactBytes(after - before)}`}
            >
              <dt>{label}</dt>
              <dd>{byteChange(after - before)}</dd>
            </div>
          );
        })}
      </dl>
      <button
        type="button"
        className="button"
        title="Flame graph of what came and what went between the cursors"
        disabled={events === 0}
        onClick={() => {
          const { flame } = view.getState().view;
          view.commit({
            view: 'flame-graph',
            flame: { ...flame, dataset: 'difference', root: undefined },
          });
        }}
      >
        <Flame size={14} aria-hidden />
        Compare by stack
      </button>
      <IconButton
        label="Swap the cursors"
        onClick={() => view.commit({ secondCursor: cursor.event, cursor: second.event })}
      >
        <ArrowLeftRight size={14} aria-hidden />
      </IconButton>
      <IconButton
        label="Clear the second cursor"
        title="Clear the second cursor (Shift M)"
        onClick={() => view.commit({ secondCursor: undefined })}
      >
        <X size={14} aria-hidden />
      </IconButton>
    </section>
  );
}

function change(value: number, text: (size: number) => string, signOfZero = ''): string {
  const sign = value < 0 ? '−' : value > 0 ? '+' : signOfZero;
  return `${sign}${text(Math.abs(value))}`;
}

/** '+1.50 GiB', '−512 bytes', '±0' */
export const byteChange = (bytes: number): string =>
  bytes === 0 ? '±0' : change(bytes, formatBytes);
