// What core needs that ES2023 lacks; browsers and Node both have it.
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(input?: Uint8Array): string;
}
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}
declare class MessageChannel {
  readonly port1: { close(): void; postMessage(message: unknown, transfer: ArrayBuffer[]): void };
}
