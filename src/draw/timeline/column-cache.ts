/**
 * Caches painted columns by the state they show, for later frames.
 *
 * A column depends only on its state, the y range and the classes. So a panned frame paints only columns that came into
 * view, a zoomed one only columns whose highest event changed, and neighbors with the same state are painted once.
 *
 *   states  12  40  40  71         slots  5  0  0  8       codes of slot s: from s * height on,
 *                                                          row 0 at the bottom
 */
import { stepwise, type Task } from '../../base/task.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { Viewport } from './types.ts';

/** In frames' worth of columns: two hold all of this frame, the rest earlier frames. */
const CACHED_FRAMES = 3;
/** Columns painted between two checks of the clock. */
export const COLUMNS_PER_STEP = 16;
const NONE = -1;
/** State of unpainted slots. Columns outside of the trace have the state -1. */
const NO_STATE = -2;

/** What all cached columns have in common. */
interface Look {
  readonly viewport: Viewport;
  readonly classOf: Uint8Array;
}

export class ColumnCache {
  codes = new Uint16Array(0);
  /** Changes when the cache is cleared. */
  epoch = 0;
  #look: Look | undefined;
  /** State → slot. */
  readonly #slotOf = new Map<EventIndex, number>();
  /** Per slot: its state, and the last frame that used it. */
  #stateOf = new Int32Array(0);
  #usedIn = new Int32Array(0);
  #frame = 0;
  #nextSlot = 0;

  get slots(): number {
    return this.#stateOf.length;
  }

  /**
   * Starts a frame. Returns each column's slot; -1 for columns to paint. A column keeps its slot until the next frame.
   */
  begin(look: Look, states: Int32Array): Int32Array {
    if (this.#look === undefined || !isSame(this.#look, look)) this.#forget(look.viewport);
    this.#look = look;
    this.#frame++;
    return states.map((state) => this.#find(state));
  }

  /**
   * Gives each column a slot, as a task. `paint` fills the slots of states that no cached column shows.
   * @param slots from `begin`
   * @param after called for each column
   */
  *paintColumns(
    slots: Int32Array,
    states: Int32Array,
    paint: (slot: number, state: EventIndex) => void,
    after: (column: number) => void = () => undefined,
  ): Task<void> {
    yield* stepwise(slots.length, COLUMNS_PER_STEP, (column) => {
      const state = states[column];
      // The previous column may have painted it.
      if (slots[column] < 0) slots[column] = this.#find(state);
      if (slots[column] < 0) {
        slots[column] = this.#claim(state);
        paint(slots[column], state);
      }
      after(column);
    });
  }

  /** The slot that shows a state; -1 for none. */
  #find(state: EventIndex): number {
    const slot = this.#slotOf.get(state) ?? NONE;
    if (slot >= 0) this.#usedIn[slot] = this.#frame;
    return slot;
  }

  /** A slot to paint a state in. */
  #claim(state: EventIndex): number {
    const slot = this.#unusedSlot();
    this.#slotOf.delete(this.#stateOf[slot]);
    this.#slotOf.set(state, slot);
    this.#stateOf[slot] = state;
    this.#usedIn[slot] = this.#frame;
    return slot;
  }

  #unusedSlot(): number {
    let slot: number;
    do {
      slot = this.#nextSlot;
      this.#nextSlot = (slot + 1) % this.slots;
    } while (this.#usedIn[slot] === this.#frame);
    return slot;
  }

  #forget({ width, height }: Viewport): void {
    this.epoch++;
    const slots = CACHED_FRAMES * width;
    if (this.slots !== slots) {
      this.#stateOf = new Int32Array(slots);
      this.#usedIn = new Int32Array(slots);
      this.#nextSlot = 0;
    }
    this.#stateOf.fill(NO_STATE);
    this.#slotOf.clear();
    // Pictures of half the columns, while one zooms, use the same memory: new memory costs more than the painting.
    if (this.codes.length < slots * height) this.codes = new Uint16Array(slots * height);
  }
}

const SHAPE = ['width', 'height', 'y0', 'y1'] as const;

const isSame = (one: Look, other: Look): boolean =>
  one.classOf === other.classOf &&
  SHAPE.every((name) => one.viewport[name] === other.viewport[name]);

/**
 * Finds the slot with a given column content, by fingerprint. Training steps are alike, so a picture of many steps
 * mostly repeats columns that were already painted for another state.
 */
export class ColumnContentCache {
  readonly #slotOf = new Map<number, number>();
  #contentOf: number[] = [];
  #epoch = -1;

  /** Call when a frame begins: drops what the cache has dropped. */
  begin({ epoch }: ColumnCache): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#slotOf.clear();
    this.#contentOf = [];
  }

  /** -1 if no slot is known to hold it. */
  find(content: number): number {
    return this.#slotOf.get(content) ?? NONE;
  }

  /** Call after painting a slot. */
  set(slot: number, content: number): void {
    const before = this.#contentOf[slot];
    if (this.#slotOf.get(before) === slot) this.#slotOf.delete(before);
    this.#contentOf[slot] = content;
    this.#slotOf.set(content, slot);
  }
}
