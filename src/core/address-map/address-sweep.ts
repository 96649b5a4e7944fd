/**
 * What came, went and became pending from one drawn state to the next. Where a block lies does not
 * depend on the others, so a column of the address map is the column before it and these changes.
 *
 * A block that comes is put on the list of the state in which it changes next (its free requested,
 * or its end), so nobody looks at it before. What came and went between two states is never looked
 * at, the max-end pyramid skips it. Changes are told by place (see address-places.ts): a block that
 * went, with another of its kind in its place since, changed nothing.
 *
 *   state      0    1    2    3
 *   A          ██████████            A goes and B comes in state 2, in the same place and of the
 *   B                    ██████      same kind: told are A in state 0, and B's end after state 3
 *
 * A training does the same step after step: of 1,200 columns of a tenth of a trace, 205 differ. So
 * what lies where has a fingerprint, by which a state is known again before anything is told of it.
 */
import { lowerBound } from '../base/binary-search.ts';
import { enlarged } from '../base/enlarged.ts';
import { Fingerprint } from '../raster/fingerprint.ts';
import type { MaxEndPyramid } from '../raster/max-end-pyramid.ts';
import { StateLookup } from '../raster/state-lookup.ts';
import type { AllocationTable } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { Places } from './address-places.ts';

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
/** In no state's list. */
const UNLISTED = 0xffff;
const KIND_BITS = 8;
const FIRST_ROOM = 1024;
const BIRTHS = 1 << 14;

export class AddressSweep {
  /** Of what lies where now. */
  readonly fingerprint = new Fingerprint();
  readonly #lives: Lives;
  readonly #places: Places;
  readonly #maxEnd: MaxEndPyramid;
  readonly #births = new Int32Array(BIRTHS);
  #kindOf: Uint8Array = new Uint8Array(0);
  #pendingKind = 0;
  #dimmedKind = NOBODY;
  #states: Int32Array = new Int32Array(0);
  #lookup: StateLookup | undefined;
  #nextRow = 0;
  /** Per place: the kind that is there, the one that the fingerprint has, the one told last. */
  readonly #kinds: Uint8Array;
  readonly #printed: Uint8Array;
  readonly #told: Uint8Array;
  /** Per place: the end of what is there, the state on whose list it is, the next of that list. */
  readonly #ends: Int32Array;
  readonly #listOf: Uint16Array;
  readonly #nextOf: Int32Array;
  /** Per state, the first of the places that change in it. */
  #heads = new Int32Array(0);
  /** Places in which something happened in this state. */
  #touched = new Int32Array(FIRST_ROOM);
  #touchedCount = 0;
  /** Places of which something may have to be told, each once. */
  #untold = new Int32Array(FIRST_ROOM);
  #untoldCount = 0;
  readonly #isUntold: Uint8Array;

  constructor(lives: Lives, places: Places, maxEnd: MaxEndPyramid) {
    this.#lives = lives;
    this.#places = places;
    this.#maxEnd = maxEnd;
    this.#kinds = new Uint8Array(places.count);
    this.#printed = new Uint8Array(places.count);
    this.#told = new Uint8Array(places.count);
    this.#ends = new Int32Array(places.count);
    this.#listOf = new Uint16Array(places.count);
    this.#nextOf = new Int32Array(places.count);
    this.#isUntold = new Uint8Array(places.count);
  }

  /**
   * Back to nothing being there.
   * @param states that `advance` will be called for, rising, below 65,535 of them
   */
  reset({ kindOf, pending, dimmed = NOBODY }: SweptKinds, states: Int32Array): void {
    this.#kindOf = kindOf;
    this.#pendingKind = pending;
    this.#dimmedKind = dimmed;
    this.#states = states;
    this.#lookup = states.length === 0 ? undefined : new StateLookup(states);
    this.#nextRow = 0;
    this.fingerprint.reset();
    this.#kinds.fill(NOBODY);
    this.#printed.fill(NOBODY);
    this.#told.fill(NOBODY);
    this.#listOf.fill(UNLISTED);
    this.#isUntold.fill(0);
    this.#untoldCount = 0;
    if (this.#heads.length < states.length) this.#heads = new Int32Array(states.length);
    this.#heads.fill(NONE);
  }

  /** Moves on to the state with this index: 0, 1, 2, … */
  advance(index: number): void {
    const state = this.#states[index];
    this.#touchedCount = 0;
    this.#review(index, state);
    this.#add(index, state);
    this.#print();
  }

  /** Tells what is different from when it was called last. */
  tell(change: Change): void {
    const untold = this.#untold;
    const kinds = this.#kinds;
    const told = this.#told;
    for (let i = 0; i < this.#untoldCount; i++) {
      const place = untold[i];
      this.#isUntold[place] = 0;
      if (told[place] === kinds[place] || told[place] === NOBODY) continue;
      change(place, told[place], -1);
    }
    for (let i = 0; i < this.#untoldCount; i++) {
      const place = untold[i];
      if (told[place] === kinds[place]) continue;
      told[place] = kinds[place];
      if (told[place] !== NOBODY) change(place, told[place], 1);
    }
    this.#untoldCount = 0;
  }

  /** Takes what changes in this state off its list. */
  #review(index: number, state: EventIndex): void {
    const kinds = this.#kinds;
    const ends = this.#ends;
    const nextOf = this.#nextOf;
    const listOf = this.#listOf;
    for (let place = this.#heads[index]; place !== NONE; ) {
      const next = nextOf[place];
      listOf[place] = UNLISTED;
      if (ends[place] <= state) {
        kinds[place] = NOBODY;
      } else {
        if (kinds[place] !== this.#dimmedKind) kinds[place] = this.#pendingKind;
        this.#enlist(place, ends[place]);
      }
      this.#makeRoom(1);
      this.#touched[this.#touchedCount++] = place;
      place = next;
    }
  }

  #add(index: number, state: EventIndex): void {
    const { start, length } = this.#lives;
    const nextRow = lowerBound(start, state + 1, this.#nextRow, length);
    for (let from = this.#nextRow; from < nextRow; from += BIRTHS) {
      const to = Math.min(nextRow, from + BIRTHS);
      this.#addBirths(index + 1, state, this.#maxEnd.collect(state, from, to, this.#births));
    }
    this.#nextRow = nextRow;
  }

  /** What a frame costs is mostly here: one loop on local variables. */
  #addBirths(next: number, state: EventIndex, count: number): void {
    this.#makeRoom(count);
    const { end, freeRequested } = this.#lives;
    const { placeOf } = this.#places;
    const births = this.#births;
    const kindOf = this.#kindOf;
    const pendingKind = this.#pendingKind;
    const dimmedKind = this.#dimmedKind;
    const kinds = this.#kinds;
    const printed = this.#printed;
    const touched = this.#touched;
    const listOf = this.#listOf;
    const ends = this.#ends;
    const nextState = next < this.#states.length ? this.#states[next] : state;
    let touchedCount = this.#touchedCount;
    for (let i = 0; i < count; i++) {
      const row = births[i];
      const place = placeOf[row];
      const endsAt = end[row];
      const freed = freeRequested[row];
      const isPending = freed <= state;
      const kind = isPending && kindOf[row] !== dimmedKind ? pendingKind : kindOf[row];
      kinds[place] = kind;
      touched[touchedCount] = place;
      if (printed[place] !== kind) touchedCount++;
      ends[place] = endsAt;
      // In a trace that contradicts itself an earlier block can be there still.
      if (listOf[place] !== UNLISTED) this.#unlist(place);
      const changes = isPending || freed > endsAt ? endsAt : freed;
      // Mostly it is gone in the next state: then nobody has to look for its list.
      if (changes <= nextState) this.#putOn(next, place);
      else this.#enlist(place, changes);
    }
    this.#touchedCount = touchedCount;
  }

  /** Puts a place on the list of the state in which the event is first seen; on none if that is not drawn. */
  #enlist(place: number, event: EventIndex): void {
    const index = this.#lookup?.of(event) ?? this.#states.length;
    if (index < this.#states.length) this.#putOn(index, place);
  }

  #putOn(index: number, place: number): void {
    this.#listOf[place] = index;
    this.#nextOf[place] = this.#heads[index];
    this.#heads[index] = place;
  }

  #unlist(place: number): void {
    const nextOf = this.#nextOf;
    const index = this.#listOf[place];
    this.#listOf[place] = UNLISTED;
    let before = this.#heads[index];
    if (before === place) {
      this.#heads[index] = nextOf[place];
      return;
    }
    while (nextOf[before] !== place) before = nextOf[before];
    nextOf[before] = nextOf[place];
  }

  /** Brings the fingerprint up to date, and keeps what has to be told. */
  #print(): void {
    const { fingerprint } = this;
    const touched = this.#touched;
    const kinds = this.#kinds;
    const printed = this.#printed;
    for (let i = 0; i < this.#touchedCount; i++) {
      const place = touched[i];
      const before = printed[place];
      const after = kinds[place];
      if (before === after) continue;
      printed[place] = after;
      if (before !== NOBODY) fingerprint.remove((place << KIND_BITS) | before);
      if (after !== NOBODY) fingerprint.add((place << KIND_BITS) | after);
      if (this.#isUntold[place] === 0) {
        this.#isUntold[place] = 1;
        this.#keepUntold(place);
      }
    }
  }

  #keepUntold(place: number): void {
    if (this.#untoldCount === this.#untold.length)
      this.#untold = enlarged(this.#untold, Int32Array);
    this.#untold[this.#untoldCount++] = place;
  }

  #makeRoom(more: number): void {
    while (this.#touchedCount + more > this.#touched.length) {
      this.#touched = enlarged(this.#touched, Int32Array);
    }
  }
}
