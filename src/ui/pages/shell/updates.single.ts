/** A page in one file has no service worker, and is what it is: in place of updates.ts. */
export function watchUpdates(): void {}
