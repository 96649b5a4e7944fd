/**
 * Bytes over the trace in equal parts: lowest and highest value of each, none left out. Part b of n is
 * the events from ceil(b * events / n). Example: 4 events with 1, 5, 2, 3 bytes after them, in 2 parts,
 * after 0 before them: lowest 0 and 2, highest 5 and 5, as each part has the value it begins with.
 */
export interface ByteCurve {
  readonly lowest: Float64Array;
  /** NaN in the parts that were not run, after an out-of-memory that the recording did not have. */
  readonly highest: Float64Array;
}

/** First event of a part, see {@link ByteCurve}; that of part `parts` is the number of events. */
export function firstEventOfPart(part: number, events: number, parts: number): number {
  return Math.ceil((part * events) / parts);
}

export class ByteCurveBuilder {
  readonly #lowest: Float64Array;
  readonly #highest: Float64Array;
  readonly #events: number;
  #part = -1;
  #bytes = 0;

  constructor(events: number, parts: number) {
    this.#events = events;
    const length = Math.min(parts, events);
    this.#lowest = new Float64Array(length).fill(Number.NaN);
    this.#highest = new Float64Array(length).fill(Number.NaN);
  }

  /** Bytes from this event on; -1 is before the trace. Events must not decrease. */
  set(event: number, bytes: number): void {
    if (event >= 0) {
      this.#goTo(Math.floor((event * this.#highest.length) / this.#events));
      this.#lowest[this.#part] = Math.min(this.#lowest[this.#part], bytes);
      this.#highest[this.#part] = Math.max(this.#highest[this.#part], bytes);
    }
    this.#bytes = bytes;
  }

  /** @param events how many were run */
  finish(events: number): ByteCurve {
    const parts = Math.ceil((events * this.#highest.length) / this.#events);
    if (events > 0) this.#goTo(Math.min(parts, this.#highest.length) - 1);
    return { lowest: this.#lowest, highest: this.#highest };
  }

  /** The parts up to this one begin with the bytes that were there before. */
  #goTo(part: number): void {
    while (this.#part < part) {
      this.#part++;
      this.#lowest[this.#part] = this.#bytes;
      this.#highest[this.#part] = this.#bytes;
    }
  }
}
