/** The service worker, which keeps the page for when there is no network. Not in the one-file build. */
import type { IdleCounter } from '../../../worker/instrumentation.ts';

/**
 * The worker fetches and stores all of the page once more, on the cores that a first file needs: it
 * comes when nothing has run for so long.
 */
const QUIET_MS = 3000;

/**
 * Registers it; `onUpdate` is called when a newer version has been fetched and waits. It takes over
 * only when its argument is called, which reloads the page: an open snapshot is never lost to it.
 * Where there is none (`npx vramscope`, private windows) the page works as ever, online.
 */
export function watchUpdates(
  idle: Pick<IdleCounter, 'whenIdle'>,
  onUpdate: (reload: () => void) => void,
): void {
  void forgetOldCaches();
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  register(navigator.serviceWorker, idle, onUpdate).catch(() => undefined);
}

async function register(
  workers: ServiceWorkerContainer,
  idle: Pick<IdleCounter, 'whenIdle'>,
  onUpdate: (reload: () => void) => void,
): Promise<void> {
  await idle.whenIdle(QUIET_MS);
  const registration = await workers.register('./sw.js');
  const offer = () => {
    const { waiting } = registration;
    // Without a controller it is the first version: there is nothing to replace.
    if (waiting === null || workers.controller === null) return;
    onUpdate(() => {
      workers.addEventListener('controllerchange', () => window.location.reload(), { once: true });
      waiting.postMessage({ type: 'SKIP_WAITING' });
    });
  };
  offer();
  registration.addEventListener('updatefound', () => {
    registration.installing?.addEventListener('statechange', offer);
  });
}

/** Samples of another version, which its service worker kept (scripts/service-worker.mjs); all that is not the page itself. */
async function forgetOldCaches(): Promise<void> {
  if (!('caches' in globalThis)) return;
  const names = await caches.keys().catch(() => []);
  const isOld = (name: string): boolean =>
    name === 'asked-for' ||
    (name.startsWith('kept-files-') && name !== `kept-files-${import.meta.env.VITE_VERSION}`);
  await Promise.all(names.filter(isOld).map((name) => caches.delete(name)));
}
