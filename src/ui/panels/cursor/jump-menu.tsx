import { Milestone } from 'lucide-react';
import { type ToggleEvent, useId } from 'react';
import { formatBytes, formatCount, formatExactBytes } from '../../../base/format.ts';
import { failedOoms } from '../../../device/model/device-info.ts';
import { useStores } from '../../../state/stores.ts';
import { useDevice } from '../../shared/services.ts';
import { type Jump, jumpsOf, LISTED_OOMS } from './cursor-steps.ts';

/** The places worth a look, in a popover below its button. */
export function JumpMenu() {
  const { device } = useDevice();
  const id = useId();
  const more = failedOoms(device).length - LISTED_OOMS;
  return (
    <>
      <button type="button" className="button" title="Jump to" popoverTarget={id}>
        <Milestone size={14} aria-hidden />
        <span className="words">Jump to</span>
      </button>
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

/** A popover is in the top layer, where nothing else places it. The button is at the right of the page. */
function placeBelowButton({ currentTarget, newState }: ToggleEvent<HTMLElement>): void {
  const button = currentTarget.previousElementSibling;
  if (newState !== 'open' || button === null) return;
  const { right, bottom } = button.getBoundingClientRect();
  currentTarget.style.right = `${document.documentElement.clientWidth - right}px`;
  currentTarget.style.top = `${bottom + 4}px`;
}

interface JumpEntryProps {
  readonly jump: Jump;
  readonly menu: string;
}

function JumpEntry({ jump, menu }: JumpEntryProps) {
  const { view } = useStores();
  const { label, event, bytes, key } = jump;
  return (
    <button
      type="button"
      className="jump"
      popoverTarget={menu}
      popoverTargetAction="hide"
      disabled={event === undefined}
      title={bytes === undefined ? undefined : formatExactBytes(bytes)}
      onClick={() => event !== undefined && view.commit({ cursor: event })}
    >
      <span>{label}</span>
      <span className="dim">
        {event === undefined ? 'before the trace' : `event ${formatCount(event)}`}
      </span>
      <span>{bytes === undefined ? '' : formatBytes(bytes)}</span>
      {key === undefined ? <span /> : <kbd>{key}</kbd>}
    </button>
  );
}
