/// <reference types="vite-plugin-pwa/vanillajs" />
/** The service worker, which keeps the page for when there is no network. Not in the one-file build. */
import { registerSW } from 'virtual:pwa-register';

/**
 * Registers it; `onUpdate` is called when a newer version has been fetched and waits. It takes over
 * only when its argument is called, which reloads the page: an open snapshot is never lost to it.
 * Where there is none (`npx vramscope`, private windows) the page works as ever, online.
 */
export function watchUpdates(onUpdate: (reload: () => void) => void): void {
  const update = registerSW({
    onNeedRefresh: () => onUpdate(() => void update(true)),
    onRegisterError: () => undefined,
  });
}
