/**
 * How a compact snapshot begins: "vramscope" and a NUL, as no text and no pickle does. Apart from the
 * codec, so that recognizing a file does not load what only compact snapshots need.
 */
export const COMPACT_MAGIC: readonly number[] = [
  0x76, 0x72, 0x61, 0x6d, 0x73, 0x63, 0x6f, 0x70, 0x65, 0,
];
