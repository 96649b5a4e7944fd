// What floors 1 to 7 may use besides ES2023: browsers and Node both have it.
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(input?: Uint8Array): string;
}
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}
interface HeadlessPort {
  close(): void;
  onmessage: (() => void) | null;
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
}
declare class MessageChannel {
  readonly port1: HeadlessPort;
  readonly port2: HeadlessPort;
}
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare class DOMException extends Error {
  constructor(message?: string, name?: string);
}
/** Without `subtle`, the page is from another host without HTTPS. */
declare const crypto: {
  readonly subtle?: { digest(name: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer> };
};
declare const performance: { now(): number };
declare function setTimeout(work: () => void, ms: number): number;
declare function atob(text: string): string;
declare function clearTimeout(timer: number): void;
