/** The pickle opcodes of protocols 0 to 5, as in Python's pickletools. Most are ASCII characters: `(` is MARK. */

/** Opcodes by the bytes of their argument, or of the argument's length: BININT (`J`) has 4, SHORT_BINUNICODE 1. */
const ARGUMENT_BYTES: readonly (readonly [
  bytes: number,
  ascii: string,
  others: readonly number[],
])[] = [
  [0, '().012FILNPQRSVabcdegilo]pstu}', [0x81, 0x85, 0x86, 0x87, 0x88, 0x89]],
  [0, '', [0x8f, 0x90, 0x91, 0x92, 0x93, 0x94, 0x97, 0x98]],
  [1, 'CKUhq', [0x80, 0x82, 0x8a, 0x8c]],
  [2, 'M', [0x83]],
  [4, 'BJTXjr', [0x84, 0x8b]],
  [8, 'G', [0x8d, 0x8e, 0x95, 0x96]],
];

/** Bytes needed before an opcode's length is known, including the opcode. 0 marks an invalid opcode. */
export const HEADER_BYTES = new Uint8Array(256);
for (const [bytes, ascii, others] of ARGUMENT_BYTES) {
  const codes = Array.from(ascii, (letter) => letter.charCodeAt(0));
  for (const op of [...codes, ...others]) HEADER_BYTES[op] = 1 + bytes;
}
