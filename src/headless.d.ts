// What floors 1 to 7 may use beside ES2023: browsers and Node both have it.
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
