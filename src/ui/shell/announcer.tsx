import { formatCount } from '../../core/base/format.ts';
import type { SessionInfo } from '../../core/device/types.ts';
import type { SessionState } from '../../state/session-store.ts';

/** Says the turns of an opening to screen readers; progress in between would only be noise. */
export function Announcer({ state }: { readonly state: SessionState }) {
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {announcement(state)}
    </div>
  );
}

function announcement(state: SessionState): string {
  switch (state.phase) {
    case 'idle':
      return '';
    case 'loading':
      return `Opening ${state.name}`;
    case 'ready':
      return `${state.info.file.name} is open: ${contents(state.info)}`;
    case 'failed':
      return `${state.name} could not be opened. ${state.failure.message}`;
  }
}

function contents({ devices }: SessionInfo): string {
  const events = devices.reduce((sum, device) => sum + device.events, 0);
  const noun = devices.length === 1 ? 'device' : 'devices';
  return `${formatCount(events)} events on ${devices.length} ${noun}`;
}
