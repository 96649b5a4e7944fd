/** Offers a newer version of the page. */
import { useEffect, useState } from 'react';
import { openInfo, useSession } from '../../../state/stores.ts';
import { Button } from '../../shared/buttons.tsx';

export function UpdateOffer() {
  const [reload, setReload] = useState<() => void>();
  const isOpen = useSession((session) => openInfo(session) !== undefined);
  useEffect(() => {
    // React calls a function passed to a setter, so wrap it in another one.
    watchUpdates((start) => setReload(() => start));
  }, []);
  if (reload === undefined) return undefined;
  return (
    <aside className="spread notices quiet-notice" aria-label="Update">
      <p>
        A newer vramscope is ready.
        {isOpen &&
          ' Reloading closes the open snapshot; the link in the address bar keeps the view.'}
      </p>
      <span className="button-row">
        <Button onClick={reload}>Reload now</Button>
        <Button onClick={() => setReload(undefined)}>Later</Button>
      </span>
    </aside>
  );
}

/**
 * Registers the service worker. Calls `onUpdate` when a newer version waits; calling its argument reloads the page with
 * it, so an open snapshot is never lost. Without service workers (the local server, private windows) the page works
 * online only.
 */
function watchUpdates(onUpdate: (reload: () => void) => void): void {
  void forgetOldCaches();
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  if (isLocallyServed(window.location)) return;
  const { serviceWorker: workers } = navigator;
  async function register(): Promise<void> {
    const registration = await workers.register('./sw.js');
    const offer = () => {
      const { waiting } = registration;
      // Without a controller this is the first version: it replaces nothing.
      if (waiting === null || workers.controller === null) return;
      onUpdate(() => {
        const reload = () => window.location.reload();
        workers.addEventListener('controllerchange', reload, { once: true });
        waiting.postMessage({ type: 'SKIP_WAITING' });
      });
    };
    offer();
    registration.addEventListener('updatefound', () => {
      registration.installing?.addEventListener('statechange', offer);
    });
  }
  register().catch(() => undefined);
}

/** `vramscope FILE` serves the page below a secret, without a service worker: it would answer for the next server there. */
export const isLocallyServed = ({ hostname, pathname }: Pick<Location, 'hostname' | 'pathname'>) =>
  hostname === '127.0.0.1' && /^\/[0-9a-f]{32}\//.test(pathname);

/** Deletes what service workers of other versions cached, such as samples (scripts/vite-plugins.mjs). */
async function forgetOldCaches(): Promise<void> {
  if (!('caches' in globalThis)) return;
  const names = await caches.keys().catch(() => []);
  const isOld = (name: string): boolean =>
    name === 'asked-for' ||
    (name.startsWith('kept-files-') && name !== `kept-files-${import.meta.env.VITE_VERSION}`);
  await Promise.all(names.filter(isOld).map((name) => caches.delete(name)));
}
