import { Milestone } from 'lucide-react';
import { type ToggleEvent, useId } from 'react';
import { formatBytes, formatCount, formatExactBytes } from '../../../base/format.ts';
import { type DeviceInfo, failedOoms } from '../../../device/model/device-info.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores } from '../../../state/stores.ts';
import { Button } from '../../shared/buttons.tsx';
import { useDevice } from '../../shared/services.ts';

interface Jump {
  readonly label: string;
  /** Undefined if it lies before the trace. */
  readonly event: EventIndex | undefined;
  readonly bytes?: number;
  readonly key?: string | undefined;
}

/** A longer menu would not fit; the O key goes through all OOMs. */
export const LISTED_OOMS = 12;

export function jumpsOf(device: DeviceInfo): readonly Jump[] {
  const { allocatedBytes, activeBytes, reservedBytes } = device.peaks;
  const ooms = failedOoms(device);
  const peak = (label: string, { bytes, event }: typeof activeBytes, key?: string) => {
    return { label, event: event < 0 ? undefined : event, bytes, key };
  };
  return [
    peak('Peak allocated', allocatedBytes, 'P'),
    peak('Peak active', activeBytes),
    peak('Peak reserved', reservedBytes, 'R'),
    ...ooms.slice(0, LISTED_OOMS).map(({ event, requestedBytes }, index) => ({
      label: ooms.length === 1 ? 'Out of memory' : `Out of memory, ${index + 1} of ${ooms.length}`,
      event,
      bytes: requestedBytes,
      key: index === 0 ? 'O' : undefined,
    })),
    { label: 'First event', event: 0 },
    { label: 'End', event: device.events - 1, key: 'E' },
  ];
}

export function JumpMenu() {
  const { device } = useDevice();
  const id = useId();
  const more = failedOoms(device).length - LISTED_OOMS;
  return (
    <>
      <Button icon={Milestone} title="Jump to" popoverTarget={id}>
        <span className="words">Jump to</span>
      </Button>
      <section
        id={id}
        popover="auto"
        className="floating jump-menu"
        aria-label="Jump to"
        onBeforeToggle={placeBelowButton}
      >
        {jumpsOf(device).map((jump) => (
          <JumpEntry key={jump.label} jump={jump} menu={id} />
        ))}
        {more > 0 && (
          <p className="dim">
            {formatCount(more)} more out of memory: <kbd>O</kbd> goes from one to the next
          </p>
        )}
      </section>
    </>
  );
}

/** CSS can't place a popover in the top layer by its button, which is at the right of the page. */
function placeBelowButton({ currentTarget, newState }: ToggleEvent<HTMLElement>): void {
  const button = currentTarget.previousElementSibling;
  if (newState !== 'open' || button === null) return;
  const { right, bottom } = button.getBoundingClientRect();
  currentTarget.style.right = `${document.documentElement.clientWidth - right}px`;
  currentTarget.style.top = `${bottom + 4}px`;
}

function JumpEntry({ jump, menu }: { readonly jump: Jump; readonly menu: string }) {
  const { view } = useStores();
  const { label, event, bytes, key } = jump;
  return (
    <Button
      className="jump hoverable"
      popoverTarget={menu}
      popoverTargetAction="hide"
      disabled={event === undefined}
      title={bytes === undefined ? undefined : formatExactBytes(bytes)}
      onClick={() => view.commit({ cursor: event })}
    >
      <span>{label}</span>
      <span className="dim">
        {event === undefined ? 'before the trace' : `event ${formatCount(event)}`}
      </span>
      <span>{bytes === undefined ? '' : formatBytes(bytes)}</span>
      {key === undefined ? <span /> : <kbd>{key}</kbd>}
    </Button>
  );
}
