/**
 * How rows are written: at most eight bytes (a run) before each of the first five values, and more bytes (a tail)
 * between the time and the frames. Example, as CPython writes rows (the runs in brackets):
 *
 *   [} 94 ( 6a a6 01 00 00] action [6a a8 01 00 00 8a 06] address [68 15] size [68 0a] stream
 *   [6a a9 01 00 00 8a 07] time, and the tail [6a aa 01 00 00 8c 03 'N/A' 94 68 10] frames
 *
 * Equal bytes mean the same in each row as long as no memo slot is filled twice. So a row with known runs and a known
 * tail has the same keys, and the same values between its time and its frames.
 */

/** Longer tails are not learned. */
export const MAX_TAIL_BYTES = 256;
/** Pools and texts differ from row to row, but a file has few combinations of them. */
const MAX_TAILS = 8;
const MAX_RUN_BYTES = 8;
const RUNS = 5;
/** The runs that end with LONG1 and its number of digits. */
const ADDRESS_RUN = 1;
const TIME_RUN = 4;
const LONG1 = 0x8a;

/** What a tail stands for (the values between the time and the frames), and what the whole row puts into the memo. */
interface TailValues {
  readonly memoTags: Uint8Array;
  readonly memoVals: Int32Array;
  readonly pool: number;
  readonly hasPool: boolean;
  readonly texts: readonly (readonly [key: string, text: number])[];
}

export class RowTail {
  readonly values: TailValues;
  readonly bytes: number;
  readonly #words: Int32Array;
  readonly #wholeBytes: number;
  readonly #lastWord: number;
  readonly #lastMask: number;

  constructor(view: DataView, from: number, to: number, values: TailValues) {
    this.values = values;
    this.bytes = to - from;
    this.#wholeBytes = this.bytes & ~3;
    this.#words = new Int32Array(this.#wholeBytes >> 2);
    for (let i = 0; i < this.#words.length; i++) {
      this.#words[i] = view.getInt32(from + 4 * i, true);
    }
    this.#lastWord = view.getInt32(from + this.#wholeBytes, true);
    this.#lastMask = maskOf(this.bytes & 3);
  }

  isAt(view: DataView, from: number): boolean {
    const words = this.#words;
    let at = from;
    for (let word = 0; word < words.length; word++, at += 4) {
      if (view.getInt32(at, true) !== words[word]) return false;
    }
    return ((view.getInt32(at, true) ^ this.#lastWord) & this.#lastMask) === 0;
  }
}

export class RowTemplate {
  /** Newest first. Empty before the first row. */
  tails: readonly RowTail[] = [];
  /** Two words for each run, and masks of the bytes that belong to it. */
  words = new Int32Array(2 * RUNS);
  masks = new Int32Array(2 * RUNS);
  runBytes = new Int32Array(RUNS);
  addressDigits = 0;
  timeDigits = 0;
  /** The dictionary has a memo slot. */
  isMemoized = false;

  tailAt(view: DataView, at: number): RowTail | undefined {
    for (const tail of this.tails) if (tail.isAt(view, at)) return tail;
    return undefined;
  }

  /**
   * Learns the runs and the tail, unless they are too long, or a number is not written as LONG1.
   * @param edges where the row begins, where each of its first values begins and ends, and where its frames begin
   */
  learn(view: DataView, edges: Int32Array, isMemoized: boolean, values: () => TailValues): void {
    for (let i = 1; i <= 2 * RUNS + 1; i++) if (edges[i] < edges[i - 1]) return;
    const [tailFrom, tailTo] = [edges[2 * RUNS], edges[2 * RUNS + 1]];
    const [address, time] = [edges[2 * ADDRESS_RUN + 1], edges[2 * TIME_RUN + 1]];
    if (view.getUint8(address) !== LONG1 || view.getUint8(time) !== LONG1) return;
    if (tailTo - tailFrom > MAX_TAIL_BYTES) return;
    const words = new Int32Array(2 * RUNS);
    const masks = new Int32Array(2 * RUNS);
    const runBytes = new Int32Array(RUNS);
    for (let run = 0; run < RUNS; run++) {
      const [from, to] = [edges[2 * run], edges[2 * run + 1]];
      const bytes = to - from + (run === ADDRESS_RUN || run === TIME_RUN ? 2 : 0);
      if (bytes > MAX_RUN_BYTES) return;
      runBytes[run] = bytes;
      for (const half of [0, 1]) {
        masks[2 * run + half] = maskOf(bytes - 4 * half);
        words[2 * run + half] = view.getInt32(from + 4 * half, true) & masks[2 * run + half];
      }
    }
    // Tails belong to their runs, which may fill memo slots too.
    const isSame = words.every((word, i) => word === this.words[i] && masks[i] === this.masks[i]);
    const tail = new RowTail(view, tailFrom, tailTo, values());
    this.tails = [tail, ...(isSame ? this.tails.slice(0, MAX_TAILS - 1) : [])];
    this.words = words;
    this.masks = masks;
    this.runBytes = runBytes;
    this.addressDigits = view.getUint8(address + 1);
    this.timeDigits = view.getUint8(time + 1);
    this.isMemoized = isMemoized;
  }
}

/** Mask of a word's first `bytes` bytes. */
const maskOf = (bytes: number): number =>
  bytes >= 4 ? -1 : bytes <= 0 ? 0 : (1 << (8 * bytes)) - 1;
