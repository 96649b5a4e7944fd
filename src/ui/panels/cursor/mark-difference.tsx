import { ArrowLeftRight, Flame, X } from 'lucide-react';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
  plural,
} from '../../../base/format.ts';
import type { Crosshair } from '../../../device/model/types.ts';
import { useStores } from '../../../state/stores.ts';
import { IconButton } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';

interface MarkDifferenceProps {
  readonly mark: Crosshair;
  readonly cursor: Crosshair;
}

/** What changed from the mark to the cursor. */
export function MarkDifference({ mark, cursor }: MarkDifferenceProps) {
  const { view } = useStores();
  return (
    <section className="row mark-difference" aria-label="From the mark to the cursor">
      <span className="mark-span">
        <button
          type="button"
          className="link"
          title="Go to the mark"
          onClick={() => view.commit({ cursor: mark.event })}
        >
          Mark at event {formatCount(mark.event)}
        </button>
        <span title="Events from the mark to the cursor">
          {eventChange(cursor.event - mark.event)}
        </span>
        <span title="Time from the mark to the cursor">{timeText(mark, cursor)}</span>
      </span>
      <dl className="row mark-counters">
        {COUNTERS.map(({ name, label, about }) => {
          const [before, after] = [mark.counters[name], cursor.counters[name]];
          return (
            <div
              key={name}
              title={`${about} ${formatBytes(before)} at the mark, ${formatBytes(after)} at the cursor: ${formatExactBytes(after - before)}`}
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
        title="Flame graph of what came and what went between the mark and the cursor"
        disabled={mark.event === cursor.event}
        onClick={() => {
          const { flame } = view.getState().view;
          view.commit({
            view: 'flame',
            flame: { ...flame, dataset: 'difference', root: undefined },
          });
        }}
      >
        <Flame size={14} aria-hidden />
        Compare by stack
      </button>
      <IconButton
        label="Swap mark and cursor"
        onClick={() => view.commit({ mark: cursor.event, cursor: mark.event })}
      >
        <ArrowLeftRight size={14} aria-hidden />
      </IconButton>
      <IconButton
        label="Clear the mark"
        title="Clear the mark (Shift M)"
        onClick={() => view.commit({ mark: undefined })}
      >
        <X size={14} aria-hidden />
      </IconButton>
    </section>
  );
}

function eventChange(events: number): string {
  const count = Math.abs(events);
  const sign = events < 0 ? '−' : events > 0 ? '+' : '';
  return `${sign}${plural(count, 'event')}`;
}

function timeText(mark: Crosshair, cursor: Crosshair): string {
  const us = cursor.timeUs - mark.timeUs;
  if (Number.isNaN(us)) return 'time not recorded';
  return us < 0 ? `−${formatDurationUs(-us)}` : `+${formatDurationUs(us)}`;
}

/** '+1.50 GiB', '−512 bytes', '±0' */
export function byteChange(bytes: number): string {
  if (bytes === 0) return '±0';
  return bytes < 0 ? `−${formatBytes(-bytes)}` : `+${formatBytes(bytes)}`;
}
