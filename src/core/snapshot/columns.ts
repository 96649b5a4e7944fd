/** Event columns while a file is decoded. */
import { type GrowableColumn, growableInt32 } from '../base/growable.ts';
import type { GrowthPlan } from '../base/growth-plan.ts';

const FIRST_CAPACITY = 1 << 16;

export interface EventColumns {
  readonly action: Uint8Array;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  readonly stream: Uint16Array;
  readonly stack: Int32Array;
  readonly timeUs: Float64Array;
  readonly pool: Uint16Array;
}

export function createColumns(capacity = FIRST_CAPACITY): EventColumns {
  return {
    action: new Uint8Array(capacity),
    address: new Float64Array(capacity),
    sizeBytes: new Float64Array(capacity),
    stream: new Uint16Array(capacity),
    stack: new Int32Array(capacity),
    timeUs: new Float64Array(capacity),
    pool: new Uint16Array(capacity),
  };
}

/** The same columns with room for more. */
export function growColumns(full: EventColumns, growth: GrowthPlan): EventColumns {
  const larger = createColumns(growth.next(full.action.length));
  larger.action.set(full.action);
  larger.address.set(full.address);
  larger.sizeBytes.set(full.sizeBytes);
  larger.stream.set(full.stream);
  larger.stack.set(full.stack);
  larger.timeUs.set(full.timeUs);
  larger.pool.set(full.pool);
  return larger;
}

/**
 * A column that most files leave at its default: costs nothing until the first event that differs.
 * Holds -1 for the default.
 */
export class LazyColumn {
  #column: GrowableColumn<Int32Array> | undefined;

  set(row: number, value: number): void {
    this.#column ??= growableInt32();
    while (this.#column.length < row) this.#column.push(-1);
    this.#column.push(value);
  }

  /** Undefined when every row has the default. */
  finish(length: number): Int32Array | undefined {
    if (this.#column === undefined) return undefined;
    while (this.#column.length < length) this.#column.push(-1);
    return this.#column.finish();
  }
}
