/// <reference types="vite-plugin-pwa/vanillajs" />
/** The service worker, which keeps the page for when there is no network. Not in the one-file build. */
import { registerSW } from 'virtual:pwa-register';

/**
 * Registers it; `onUpdate` is called when a newer version has been fetched and waits. It takes over
 * only when its argument is called, which reloads the page: an open snapshot is never lost to it.
 * Where there is none (`npx vramscope`, private windows) the page works as ever, online.
 */
export function watchUpdates(onUpdate: (reload: () => void) => void): void {
  void forgetOldCaches();
  const update = registerSW({
    onNeedRefresh: () => onUpdate(() => void update(true)),
    onRegisterError: () => undefined,
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
