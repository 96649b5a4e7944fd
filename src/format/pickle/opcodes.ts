/** Pickle opcodes, by the names of Python's pickletools (protocols 0 to 5). */
export const Op = {
  Mark: 0x28, // (
  Stop: 0x2e, // .
  Pop: 0x30, // 0
  PopMark: 0x31, // 1
  Dup: 0x32, // 2
  BinBytes: 0x42, // B
  ShortBinBytes: 0x43, // C
  Float: 0x46, // F
  BinFloat: 0x47, // G
  Int: 0x49, // I
  BinInt: 0x4a, // J
  BinInt1: 0x4b, // K
  Long: 0x4c, // L
  BinInt2: 0x4d, // M
  None: 0x4e, // N
  PersId: 0x50, // P
  BinPersId: 0x51, // Q
  Reduce: 0x52, // R
  String: 0x53, // S
  BinString: 0x54, // T
  ShortBinString: 0x55, // U
  Unicode: 0x56, // V
  BinUnicode: 0x58, // X
  Append: 0x61, // a
  Build: 0x62, // b
  Global: 0x63, // c
  Dict: 0x64, // d
  Appends: 0x65, // e
  Get: 0x67, // g
  BinGet: 0x68, // h
  Inst: 0x69, // i
  LongBinGet: 0x6a, // j
  List: 0x6c, // l
  EmptyList: 0x5d, // ]
  Obj: 0x6f, // o
  Put: 0x70, // p
  BinPut: 0x71, // q
  LongBinPut: 0x72, // r
  SetItem: 0x73, // s
  Tuple: 0x74, // t
  EmptyTuple: 0x29, // )
  SetItems: 0x75, // u
  EmptyDict: 0x7d, // }
  Proto: 0x80,
  NewObj: 0x81,
  Ext1: 0x82,
  Ext2: 0x83,
  Ext4: 0x84,
  Tuple1: 0x85,
  Tuple2: 0x86,
  Tuple3: 0x87,
  NewTrue: 0x88,
  NewFalse: 0x89,
  Long1: 0x8a,
  Long4: 0x8b,
  ShortBinUnicode: 0x8c,
  BinUnicode8: 0x8d,
  BinBytes8: 0x8e,
  EmptySet: 0x8f,
  AddItems: 0x90,
  FrozenSet: 0x91,
  NewObjEx: 0x92,
  StackGlobal: 0x93,
  Memoize: 0x94,
  Frame: 0x95,
  ByteArray8: 0x96,
  NextBuffer: 0x97,
  ReadOnlyBuffer: 0x98,
} as const;

/**
 * Bytes needed before an opcode's length is known, including the opcode: BININT is 1 + 4, SHORT_BINUNICODE is 1 + 1
 * (then as many as the second byte says). 0 marks an invalid opcode.
 */
export const HEADER_BYTES: Uint8Array = headerBytes();

function headerBytes(): Uint8Array {
  const bytes = new Uint8Array(256);
  for (const op of Object.values(Op)) bytes[op] = 1;
  const { BinInt1, BinGet, BinPut, Proto, Ext1, Long1, ShortBinUnicode, ShortBinString } = Op;
  const { BinInt, LongBinGet, LongBinPut, Ext4, Long4, BinUnicode, BinString, BinBytes } = Op;
  const ofSize: readonly (readonly [number, readonly number[]])[] = [
    [1, [BinInt1, BinGet, BinPut, Proto, Ext1, Long1, ShortBinUnicode, ShortBinString]],
    [1, [Op.ShortBinBytes]],
    [2, [Op.BinInt2, Op.Ext2]],
    [4, [BinInt, LongBinGet, LongBinPut, Ext4, Long4, BinUnicode, BinString, BinBytes]],
    [8, [Op.BinFloat, Op.Frame, Op.BinUnicode8, Op.BinBytes8, Op.ByteArray8]],
  ];
  for (const [size, ops] of ofSize) for (const op of ops) bytes[op] = 1 + size;
  return bytes;
}
