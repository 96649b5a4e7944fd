import { useEffect, useState } from 'react';
import { openInfo } from '../../state/session-store.ts';
import { useSession } from '../../state/stores.ts';
import { watchUpdates } from './updates.ts';

/** Says when a newer version waits, and leaves the time to the user. */
export function UpdateBar() {
  const [reload, setReload] = useState<() => void>();
  const isOpen = useSession((session) => openInfo(session) !== undefined);
  useEffect(() => {
    // A function given to a setter is called: hand it one that gives the function.
    watchUpdates((start) => setReload(() => start));
  }, []);
  if (reload === undefined) return undefined;
  return (
    <aside className="notices update-bar" aria-label="Update">
      <p>
        A newer vramscope is ready.
        {isOpen && ' Reloading closes the open snapshot; the address keeps the view on it.'}
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
