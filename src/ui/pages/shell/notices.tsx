import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { formatCount } from '../../../base/format.ts';
import type { SessionInfo } from '../../../device/model/types.ts';
import { openInfo, type SessionState } from '../../../state/session-store.ts';
import { useSession } from '../../../state/stores.ts';
import { IconButton } from '../../shared/icon-button.tsx';
import { useServices } from '../../shared/services.ts';
import { watchUpdates } from './updates.ts';

/** Parts of the link that could not be applied. */
export function Notices() {
  const { notices } = useServices();
  const sentences = useStore(notices);
  if (sentences.length === 0) return undefined;
  return (
    <aside className="spread notices" aria-label="About the link">
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <IconButton label="Dismiss" onClick={() => notices.setState([], true)}>
        <X size={15} aria-hidden />
      </IconButton>
    </aside>
  );
}

/** Offers a newer version; the user decides when to reload. */
export function UpdateBar() {
  const [reload, setReload] = useState<() => void>();
  const { idle } = useServices();
  const isOpen = useSession((session) => openInfo(session) !== undefined);
  useEffect(() => {
    // A function given to a setter is called: hand it one that gives the function.
    watchUpdates(idle, (start) => setReload(() => start));
  }, [idle]);
  if (reload === undefined) return undefined;
  return (
    <aside className="spread notices update-bar" aria-label="Update">
      <p>
        A newer vramscope is ready.
        {isOpen &&
          ' Reloading closes the open snapshot; the link in the address bar keeps the view.'}
      </p>
      <span className="button-row">
        <button type="button" className="button" onClick={reload}>
          Reload now
        </button>
        <button type="button" className="button" onClick={() => setReload(undefined)}>
          Later
        </button>
      </span>
    </aside>
  );
}

/** Announces the steps of opening a file to screen readers; progress in between would be noise. */
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
