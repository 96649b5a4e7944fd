import './cursor.css';
import {
  ArrowLeftRight,
  ChevronLeft,
  ChevronRight,
  ChevronsLeft,
  ChevronsRight,
  Flag,
  Flame,
  Milestone,
  X,
} from 'lucide-react';
import type { CounterName } from '../../../allocator/replay/types.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
  plural,
} from '../../../base/format.ts';
import { type DeviceInfo, failedOoms } from '../../../device/model/device-info.ts';
import type { Crosshair } from '../../../device/model/events.ts';
import { peakText } from '../../../device/model/main-device.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { Button, IconButton, Popover } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { BIG_STEP, cursorEvent, stepped, useCursorKeys } from './cursor-steps.ts';

export function CursorBar() {
  const { device } = useDevice();
  const { view } = useStores();
  useCursorKeys();
  const cursor = useView((state) => state.cursor);
  const second = useView((state) => state.secondCursor);
  const at = useCrosshair(cursorEvent(device, cursor));
  const from = useCrosshair(second === undefined ? undefined : cursorEvent(device, second));
  if (device.events === 0) {
    return (
      <section className="row cursor-bar" aria-label="Cursor">
        <span className="dim">
          No history was recorded. You see memory as it was when the snapshot was taken.
        </span>
      </section>
    );
  }
  const isMeasured = second !== undefined && from.value !== undefined && at.value !== undefined;
  return (
    <>
      <section className="row cursor-bar" aria-label="Cursor">
        <StepButtons />
        {at.failure !== undefined && (
          <span role="alert">The event cannot be read: {at.failure}</span>
        )}
        {at.value !== undefined && <Place cursor={cursor} at={at.value} />}
        <JumpMenu />
        <Button
          icon={Flag}
          title="Set the second cursor here, to measure from (M)"
          onClick={() => view.commit({ secondCursor: cursorEvent(device, cursor) })}
        >
          <span className="words">
            Measure<span className="cursor-aside"> from here</span>
          </span>
        </Button>
      </section>
      {isMeasured && <CursorDifference second={from.value} cursor={at.value} />}
    </>
  );
}

function useCrosshair(event: EventIndex | undefined) {
  return useQuery('crosshair', event === undefined ? undefined : { event });
}

interface PlaceProps {
  readonly cursor: EventIndex | undefined;
  readonly at: Crosshair;
}

/** 'event 6,195 of 24,310 · oom · 1.23 s', and the memory after it. */
function Place({ cursor, at: { event, action, timeUs, counters } }: PlaceProps) {
  const { events } = useDevice().device;
  return (
    <>
      <span className="cursor-place" aria-live="polite">
        <strong>Event {formatCount(event)}</strong>
        <span className="dim cursor-aside">of {formatCount(events)}</span>
        <span className="dim cursor-action" data-action={action}>
          {action}
        </span>
        {!Number.isNaN(timeUs) && <span>{formatDurationUs(timeUs)}</span>}
        {cursor === undefined && <span className="dim">the end</span>}
        {cursor !== undefined && cursor >= events && (
          <span className="cursor-beyond" role="status">
            There is no event {formatCount(cursor)}: this is the end.
          </span>
        )}
      </span>
      {COUNTERS.filter(({ name }) => PLACE_COUNTERS.includes(name)).map(({ name, label }) => (
        <span key={name} className="cursor-counter" title={formatExactBytes(counters[name])}>
          <span className="dim">{label}</span> {formatBytes(counters[name])}
        </span>
      ))}
    </>
  );
}

const PLACE_COUNTERS: readonly CounterName[] = ['allocatedBytes', 'reservedBytes'];

const STEPS = [
  { step: -BIG_STEP, label: `${BIG_STEP} events back`, key: 'Shift ,', Icon: ChevronsLeft },
  { step: -1, label: 'Previous event', key: ',', Icon: ChevronLeft },
  { step: 1, label: 'Next event', key: '.', Icon: ChevronRight },
  { step: BIG_STEP, label: `${BIG_STEP} events forward`, key: 'Shift .', Icon: ChevronsRight },
];

function StepButtons() {
  const { device } = useDevice();
  const { view } = useStores();
  const cursor = useView((state) => state.cursor);
  return (
    <span className="step-buttons">
      {STEPS.map(({ step, label, key, Icon }) => (
        <IconButton
          icon={Icon}
          key={label}
          label={label}
          title={`${label} (${key})`}
          disabled={stepped(device, cursor, step) === cursorEvent(device, cursor)}
          onClick={() => view.move({ cursor: stepped(device, cursor, step) })}
        />
      ))}
    </span>
  );
}

function CursorDifference({ second, cursor }: Readonly<Record<'second' | 'cursor', Crosshair>>) {
  const { view } = useStores();
  const events = cursor.event - second.event;
  const us = cursor.timeUs - second.timeUs;
  const showFlame = () => {
    const { flame } = view.getState().view;
    const changed = { ...flame, dataset: 'difference' as const, root: undefined };
    view.commit({ view: 'flame-graph', flame: changed });
  };
  return (
    <section className="row cursor-difference" aria-label="From the second cursor to the cursor">
      <span className="inline-row cursor-span">
        <Button
          className="link"
          title="Go to the second cursor"
          onClick={() => view.commit({ cursor: second.event })}
        >
          From event {formatCount(second.event)}
        </Button>
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
          const title = `${about} ${formatBytes(before)} at the second cursor, ${formatBytes(after)} at the cursor: ${formatExactBytes(after - before)}`;
          return (
            <div key={name} className="inline-row" title={title}>
              <dt>{label}</dt>
              <dd>{byteChange(after - before)}</dd>
            </div>
          );
        })}
      </dl>
      <Button
        icon={Flame}
        title="Flame graph of what came and what went between the cursors"
        disabled={events === 0}
        onClick={showFlame}
      >
        Compare by stack
      </Button>
      <IconButton
        icon={ArrowLeftRight}
        label="Swap the cursors"
        onClick={() => view.commit({ secondCursor: cursor.event, cursor: second.event })}
      />
      <IconButton
        icon={X}
        label="Clear the second cursor"
        title="Clear the second cursor (Shift M)"
        onClick={() => view.commit({ secondCursor: undefined })}
      />
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

interface Jump {
  readonly label: string;
  /** Undefined if it lies before the trace. */
  readonly event: EventIndex | undefined;
  readonly bytes?: number;
  /** Of the bytes. */
  readonly text?: string;
  readonly key?: string | undefined;
}

/** A longer menu would not fit; the O key goes through all OOMs. */
export const LISTED_OOMS = 12;

export function jumpsOf(device: DeviceInfo): readonly Jump[] {
  const { allocatedBytes, activeBytes, reservedBytes } = device.peaks;
  const ooms = failedOoms(device);
  const peak = (label: string, { bytes, event }: typeof activeBytes, key?: string) => {
    const text = peakText(bytes, device.recording);
    return { label, event: event < 0 ? undefined : event, bytes, text, key };
  };
  return [
    peak('Peak allocated', allocatedBytes, 'P'),
    peak('Peak active', activeBytes),
    peak('Peak reserved', reservedBytes, 'R'),
    ...ooms.slice(0, LISTED_OOMS).map(({ event, requestedBytes }, index) => ({
      label: ooms.length === 1 ? 'Out of memory' : `Out of memory, ${index + 1} of ${ooms.length}`,
      event,
      bytes: requestedBytes,
      text: formatBytes(requestedBytes),
      key: index === 0 ? 'O' : undefined,
    })),
    { label: 'First event', event: 0 },
    { label: 'End', event: device.events - 1, key: 'E' },
  ];
}

function JumpMenu() {
  const { device } = useDevice();
  const { view } = useStores();
  const more = failedOoms(device).length - LISTED_OOMS;
  return (
    <Popover
      className="jump-menu"
      aria-label="Jump to"
      button={(id) => (
        <Button icon={Milestone} title="Jump to" popoverTarget={id}>
          <span className="words">Jump to</span>
        </Button>
      )}
    >
      {jumpsOf(device).map(({ label, event, bytes, text, key }) => (
        <Button
          key={label}
          className="jump hoverable"
          disabled={event === undefined}
          title={bytes === undefined ? undefined : formatExactBytes(bytes)}
          onClick={({ currentTarget }) => {
            currentTarget.parentElement?.hidePopover();
            view.commit({ cursor: event });
          }}
        >
          <span>{label}</span>
          <span className="dim">
            {event === undefined ? 'before the trace' : `event ${formatCount(event)}`}
          </span>
          <span>{text}</span>
          {key === undefined ? <span /> : <kbd>{key}</kbd>}
        </Button>
      ))}
      {more > 0 && (
        <p className="dim">
          {formatCount(more)} more out of memory: <kbd>O</kbd> goes from one to the next
        </p>
      )}
    </Popover>
  );
}
