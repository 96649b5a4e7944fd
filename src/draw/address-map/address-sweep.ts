/**
 * What came, went and became pending from one drawn state to the next. Where a block lies does not
 * depend on the others, so a column of the address map is the column before it and these changes.
 *
 * A block that comes is put on the list of the state in which it changes next (its free requested,
 * or its end), so nobody looks at it before. What came and went between two states is never looked
 * at, the max-end pyramid skips it. Changes are reported by place (see address-index.ts): a block that
 * went, with another of its kind in its place since, changed nothing.
 *
 *   state      0    1    2    3
 *   A          ██████████            A goes and B comes in state 2, in the same place and of the
 *   B                    ██████      same kind: A is reported in state 0, and the end of B after 3
 *
 * A training does the same step after step: of 1,200 columns of a tenth of a trace, 205 differ. So
 * what lies where has a fingerprint, by which a state is known again before anything of it is reported.
 */

import type { AllocationTable } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { enlarged } from '../../base/growable.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { MaxEndPyramid } from '../timeline/max-end-pyramid.ts';
import type { Places } from './address-index.ts';
import { StateLookup } from './state-lookup.ts';

/** Rows that live from `start` to `end`, in order of start. */
export type Lives = Pick<AllocationTable, 'length' | 'start' | 'freeRequested' | 'end'>;

/**
 * A block of a kind is in a place from now on (sign 1) or is gone (-1). What changes its kind goes as
 * what it was and comes as what it is. What goes is reported before what comes. (Small integers
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
  /** Per place: the kind that is there, the one that the fingerprint has, the one reported last. */
  readonly #kinds: Uint8Array;
  readonly #fingerprinted: Uint8Array;
  readonly #reported: Uint8Array;
  /** Per place: the end of what is there, the state on whose list it is, the next of that list. */
  readonly #ends: Int32Array;
  readonly #listOf: Uint16Array;
  readonly #nextOf: Int32Array;
  /** Per state, the first of the places that change in it. */
  #heads = new Int32Array(0);
  /** Places in which something happened in this state. */
  #touched = new Int32Array(FIRST_ROOM);
  #touchedCount = 0;
  /** Places that changed since the last report, each once. */
  #unreported = new Int32Array(FIRST_ROOM);
  #unreportedCount = 0;
  readonly #isUnreported: Uint8Array;

  constructor(lives: Lives, places: Places, maxEnd: MaxEndPyramid) {
    this.#lives = lives;
    this.#places = places;
    this.#maxEnd = maxEnd;
    this.#kinds = new Uint8Array(places.count);
    this.#fingerprinted = new Uint8Array(places.count);
    this.#reported = new Uint8Array(places.count);
    this.#ends = new Int32Array(places.count);
    this.#listOf = new Uint16Array(places.count);
    this.#nextOf = new Int32Array(places.count);
    this.#isUnreported = new Uint8Array(places.count);
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
    this.#fingerprinted.fill(NOBODY);
    this.#reported.fill(NOBODY);
    this.#listOf.fill(UNLISTED);
    this.#isUnreported.fill(0);
    this.#unreportedCount = 0;
    if (this.#heads.length < states.length) this.#heads = new Int32Array(states.length);
    this.#heads.fill(NONE);
  }

  /** Moves on to the state with this index: 0, 1, 2, … */
  advance(index: number): void {
    const state = this.#states[index];
    this.#touchedCount = 0;
    this.#review(index, state);
    this.#add(index, state);
    this.#updateFingerprint();
  }

  /** Reports what is different from the last report. */
  report(change: Change): void {
    const unreported = this.#unreported;
    const kinds = this.#kinds;
    const reported = this.#reported;
    for (let i = 0; i < this.#unreportedCount; i++) {
      const place = unreported[i];
      this.#isUnreported[place] = 0;
      if (reported[place] === kinds[place] || reported[place] === NOBODY) continue;
      change(place, reported[place], -1);
    }
    for (let i = 0; i < this.#unreportedCount; i++) {
      const place = unreported[i];
      if (reported[place] === kinds[place]) continue;
      reported[place] = kinds[place];
      if (reported[place] !== NOBODY) change(place, reported[place], 1);
    }
    this.#unreportedCount = 0;
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
    const { placeOfRow } = this.#places;
    const births = this.#births;
    const kindOf = this.#kindOf;
    const pendingKind = this.#pendingKind;
    const dimmedKind = this.#dimmedKind;
    const kinds = this.#kinds;
    const fingerprinted = this.#fingerprinted;
    const touched = this.#touched;
    const listOf = this.#listOf;
    const ends = this.#ends;
    const nextState = next < this.#states.length ? this.#states[next] : state;
    let touchedCount = this.#touchedCount;
    for (let i = 0; i < count; i++) {
      const row = births[i];
      const place = placeOfRow[row];
      const endsAt = end[row];
      const freed = freeRequested[row];
      const isPending = freed <= state;
      const kind = isPending && kindOf[row] !== dimmedKind ? pendingKind : kindOf[row];
      kinds[place] = kind;
      touched[touchedCount] = place;
      if (fingerprinted[place] !== kind) touchedCount++;
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

  /** Brings the fingerprint up to date, and collects what the next report holds. */
  #updateFingerprint(): void {
    const { fingerprint } = this;
    const touched = this.#touched;
    const kinds = this.#kinds;
    const fingerprinted = this.#fingerprinted;
    for (let i = 0; i < this.#touchedCount; i++) {
      const place = touched[i];
      const before = fingerprinted[place];
      const after = kinds[place];
      if (before === after) continue;
      fingerprinted[place] = after;
      if (before !== NOBODY) fingerprint.remove((place << KIND_BITS) | before);
      if (after !== NOBODY) fingerprint.add((place << KIND_BITS) | after);
      if (this.#isUnreported[place] === 0) {
        this.#isUnreported[place] = 1;
        this.#addUnreported(place);
      }
    }
  }

  #addUnreported(place: number): void {
    if (this.#unreportedCount === this.#unreported.length)
      this.#unreported = enlarged(this.#unreported);
    this.#unreported[this.#unreportedCount++] = place;
  }

  #makeRoom(more: number): void {
    while (this.#touchedCount + more > this.#touched.length) {
      this.#touched = enlarged(this.#touched);
    }
  }
}

/**
 * 64 bits that tell sets of small integers from each other: equal for equal sets, and for two that
 * differ equal once in 2^64. A number that comes or goes costs a few multiplications.
 */
class Fingerprint {
  /** Sums of two hashes of each number, modulo 2^32. */
  low = 0;
  high = 0;

  reset(): void {
    this.low = 0;
    this.high = 0;
  }

  add(value: number): void {
    this.low = (this.low + hash(value)) | 0;
    this.high = (this.high + hash(~value)) | 0;
  }

  remove(value: number): void {
    this.low = (this.low - hash(value)) | 0;
    this.high = (this.high - hash(~value)) | 0;
  }
}

/** The finish of MurmurHash3: each bit of the value changes half of those of the hash. */
function hash(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
