/**
 * What came, went and became pending from one column to the next. Where a block lies does not depend
 * on the others, so a column of the address map is the column before it and these changes.
 *
 * A block that comes is put on the list of the column in which it changes next (its free requested,
 * or its end), so nobody looks at it before. What came and went between two columns is never looked
 * at, the max-end pyramid skips it. Changes are told by place (see address-places.ts): a block that
 * went, with another of its kind in its place since, changed nothing.
 *
 *   column     0    1    2    3
 *   A          ██████████            A goes and B comes in column 2, in the same place and of the
 *   B                    ██████      same kind: told are A in column 0, and B's end after column 3
 */
import { lowerBound } from '../base/binary-search.ts';
import { enlarged } from '../base/enlarged.ts';
import type { AllocationTable } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { Places } from './address-places.ts';
import { ColumnLookup } from './column-lookup.ts';
import type { MaxEndPyramid } from './max-end-pyramid.ts';

/** Rows that live from `start` to `end`, in order of start. */
export type Lives = Pick<AllocationTable, 'length' | 'start' | 'freeRequested' | 'end'>;

/**
 * A block of a kind is in a place from now on (sign 1) or is gone (-1). What changes its kind goes as
 * what it was and comes as what it is. All that goes is told before what comes. (Small integers
 * alone: other numbers would be put on the heap to be handed over, 500,000 times a frame.)
 */
export type Change = (place: number, kind: number, sign: 1 | -1) => void;

export interface SweptKinds {
  /** Of each row. */
  readonly kindOf: Uint8Array;
  /** Rows are of this kind from the time on that their free is requested. */
  readonly pending: number;
  /** Not those of this kind: they keep it. */
  readonly dimmed?: number | undefined;
}

/** No block is in a place. Kinds are below: 252 classes and the pending. */
const NOBODY = 255;
const NONE = -1;
const FIRST_ITEMS = 1024;
const BIRTHS = 1 << 14;

export class AddressSweep {
  readonly #lives: Lives;
  readonly #places: Places;
  readonly #maxEnd: MaxEndPyramid;
  readonly #births = new Int32Array(BIRTHS);
  #kindOf: Uint8Array = new Uint8Array(0);
  #pendingKind = 0;
  #dimmedKind = NOBODY;
  #states: Int32Array = new Int32Array(0);
  #columns: ColumnLookup | undefined;
  #toColumn = 0;
  #nextRow = 0;
  /** Per place: the kind that is there, the kind that was told last, and the item that is there. */
  readonly #kinds: Uint8Array;
  readonly #told: Uint8Array;
  readonly #itemAt: Int32Array;
  /** Places of which something may have to be told. */
  #touched = new Int32Array(FIRST_ITEMS);
  #touchedCount = 0;
  /** Per item, a block that will change in view: its place, its end, the next of the list it is on. */
  #itemPlaces = new Int32Array(FIRST_ITEMS);
  #itemEnds = new Int32Array(FIRST_ITEMS);
  #nextItems = new Int32Array(FIRST_ITEMS);
  #items = 0;
  #freeItem = NONE;
  /** Per column, the first of the items that change in it. */
  #heads = new Int32Array(0);

  constructor(lives: Lives, places: Places, maxEnd: MaxEndPyramid) {
    this.#lives = lives;
    this.#places = places;
    this.#maxEnd = maxEnd;
    this.#kinds = new Uint8Array(places.count);
    this.#told = new Uint8Array(places.count);
    this.#itemAt = new Int32Array(places.count);
  }

  /**
   * Back to nothing being there.
   * @param states of the columns; from column `from` to `to`, excluded, they never fall
   */
  reset(
    { kindOf, pending, dimmed = NOBODY }: SweptKinds,
    states: Int32Array,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    this.#kindOf = kindOf;
    this.#pendingKind = pending;
    this.#dimmedKind = dimmed;
    this.#states = states;
    this.#columns = from < to ? new ColumnLookup(states, from, to) : undefined;
    this.#toColumn = to;
    this.#nextRow = 0;
    this.#kinds.fill(NOBODY);
    this.#told.fill(NOBODY);
    this.#items = 0;
    this.#freeItem = NONE;
    if (this.#heads.length < to) this.#heads = new Int32Array(to);
    this.#heads.fill(NONE);
  }

  /** Moves on to a column, of those of `reset` and in their order; one of the same state may be left out. */
  advance(column: number, change: Change): void {
    const state = this.#states[column];
    this.#touchedCount = 0;
    this.#review(column, state);
    this.#add(state);
    this.#tell(change);
  }

  /** Takes what changes in this column off its list. */
  #review(column: number, state: EventIndex): void {
    const nextItems = this.#nextItems;
    let item = this.#heads[column];
    while (item !== NONE) {
      const next = nextItems[item];
      const place = this.#itemPlaces[item];
      const isLive = this.#itemEnds[item] > state;
      // In a trace that contradicts itself a later block can have the place already.
      if (this.#itemAt[place] === item) {
        const isDimmed = this.#kinds[place] === this.#dimmedKind;
        if (!isLive) this.#kinds[place] = NOBODY;
        else if (!isDimmed) this.#kinds[place] = this.#pendingKind;
        this.#touch(place);
      }
      if (!isLive || !this.#enlist(item, this.#itemEnds[item])) {
        nextItems[item] = this.#freeItem;
        this.#freeItem = item;
      }
      item = next;
    }
  }

  #add(state: EventIndex): void {
    const { start, length } = this.#lives;
    const nextRow = lowerBound(start, state + 1, this.#nextRow, length);
    for (let from = this.#nextRow; from < nextRow; from += BIRTHS) {
      const to = Math.min(nextRow, from + BIRTHS);
      this.#addBirths(state, this.#maxEnd.collect(state, from, to, this.#births));
    }
    this.#nextRow = nextRow;
  }

  /** What a frame costs is mostly here: one loop on local variables. */
  #addBirths(state: EventIndex, count: number): void {
    const { end, freeRequested } = this.#lives;
    const { placeOf } = this.#places;
    const births = this.#births;
    const kindOf = this.#kindOf;
    const pendingKind = this.#pendingKind;
    const dimmedKind = this.#dimmedKind;
    const kinds = this.#kinds;
    const told = this.#told;
    const itemAt = this.#itemAt;
    for (let i = 0; i < count; i++) {
      const row = births[i];
      const place = placeOf[row];
      const ends = end[row];
      const freed = freeRequested[row];
      const isPending = freed <= state;
      const kind = isPending && kindOf[row] !== dimmedKind ? pendingKind : kindOf[row];
      kinds[place] = kind;
      if (told[place] !== kind) this.#touch(place);
      itemAt[place] = this.#newItem(place, ends, isPending || freed > ends ? ends : freed);
    }
  }

  #touch(place: number): void {
    if (this.#touchedCount === this.#touched.length) {
      this.#touched = enlarged(this.#touched, Int32Array);
    }
    this.#touched[this.#touchedCount++] = place;
  }

  /** NONE for a block to which nothing happens in view. */
  #newItem(place: number, ends: EventIndex, changes: EventIndex): number {
    const column = this.#columns?.of(changes) ?? this.#toColumn;
    if (column >= this.#toColumn) return NONE;
    let item = this.#freeItem;
    if (item === NONE) {
      item = this.#items++;
      if (item === this.#itemPlaces.length) this.#growItems();
    } else {
      this.#freeItem = this.#nextItems[item];
    }
    this.#itemPlaces[item] = place;
    this.#itemEnds[item] = ends;
    this.#nextItems[item] = this.#heads[column];
    this.#heads[column] = item;
    return item;
  }

  /** Puts an item on the list of the column in which the event is first seen; false without one. */
  #enlist(item: number, event: EventIndex): boolean {
    const column = this.#columns?.of(event) ?? this.#toColumn;
    if (column >= this.#toColumn) return false;
    this.#nextItems[item] = this.#heads[column];
    this.#heads[column] = item;
    return true;
  }

  #tell(change: Change): void {
    const touched = this.#touched;
    const kinds = this.#kinds;
    const told = this.#told;
    for (let i = 0; i < this.#touchedCount; i++) {
      const place = touched[i];
      if (told[place] === kinds[place] || told[place] === NOBODY) continue;
      change(place, told[place], -1);
      told[place] = NOBODY;
    }
    for (let i = 0; i < this.#touchedCount; i++) {
      const place = touched[i];
      if (told[place] === kinds[place]) continue;
      told[place] = kinds[place];
      change(place, told[place], 1);
    }
  }

  #growItems(): void {
    this.#itemPlaces = enlarged(this.#itemPlaces, Int32Array);
    this.#itemEnds = enlarged(this.#itemEnds, Int32Array);
    this.#nextItems = enlarged(this.#nextItems, Int32Array);
  }
}
