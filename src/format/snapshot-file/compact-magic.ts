/**
 * A compact snapshot begins with "vramscope" and a NUL, unlike any text or pickle. This is a separate file so that
 * recognizing a file does not load the codec.
 */
export const COMPACT_MAGIC: readonly number[] = [
  0x76, 0x72, 0x61, 0x6d, 0x73, 0x63, 0x6f, 0x70, 0x65, 0,
];
