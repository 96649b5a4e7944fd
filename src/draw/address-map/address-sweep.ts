/**
 * What arrived, left and became pending from one drawn state to the next. A block's place does not depend on the
 * others, so a column of the address map is the previous column plus these changes.
 *
 * A new block goes on the list of the state in which it changes next (its free is requested, or it ends), so it is not
 * examined before. The max-end pyramid skips blocks that came and went between two states. Changes are reported by
 * place (see address-index.ts): if a block left and another of its kind has taken its place, nothing changed.
 *
 *   state      0    1    2    3
 *   A          ██████████            A goes and B comes in state 2, in the same place and of the
 *   B                    ██████      same kind: A is reported in state 0, and the end of B after 3
 *
 * Training repeats itself step after step: of 1,200 columns of a tenth of a trace, 205 differ. So each layout has a
 * fingerprint, and a known state is recognized before any of it is reported.
 */

import type { AllocationTable } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { enlarged } from '../../base/growable.ts';
import { spread } from '../../base/hash.ts';
import { waitsFrom } from '../../device/model/waits.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { MaxEndPyramid } from '../timeline/max-end-pyramid.ts';
import type { Places } from './address-index.ts';

/** Rows that live from `start` to `end`, in order of start. */
export type Lives = Pick<AllocationTable, 'length' | 'start' | 'freeRequested' | 'end'>;

/**
 * A block of a kind arrives at a place (sign 1) or leaves it (-1). A change of kind is reported as both. Departures are
 * reported before arrivals. (Only small integers: other numbers would be allocated on the heap for each of 500,000
 * calls per frame.)
 */
export type Change = (place: number, kind: number, sign: 1 | -1) => void;

export interface SweptKinds {
  /** Kind of each row. */
  readonly kindOf: Uint8Array;
  /** The kind of a row once its free is requested. */
  readonly pending: number;
  /** Rows of this kind keep it. */
  readonly dimmed?: number | undefined;
}

/** No block in a place. Kinds are below: 252 classes and pending. */
const NOBODY = 255;
const NONE = -1;
/** In no state's list. */
const UNLISTED = 0xffff;
const KIND_BITS = 8;
const FIRST_ROOM = 1024;
const BIRTHS = 1 << 14;

export class AddressSweep {
  readonly #fingerprint: Fingerprint;
  /** Keeps the numbers of this sweep's blocks apart from those of others with the same fingerprint. */
  readonly #salt: number;
  readonly #lives: Lives;
  readonly #places: Places;
  readonly #maxEnd: MaxEndPyramid;
  readonly #births = new Int32Array(BIRTHS);
  #kindOf: Uint8Array = new Uint8Array(0);
  #pendingKind = 0;
  #dimmedKind = NOBODY;
  #states: Int32Array = new Int32Array(0);
  #nextRow = 0;
  /** Per place: the current kind, the one in the fingerprint, the one last reported. */
  readonly #kinds: Uint8Array;
  readonly #fingerprinted: Uint8Array;
  readonly #reported: Uint8Array;
  /** Per place: the end of its block, the state on whose list it is, the next place on that list. */
  readonly #ends: Int32Array;
  readonly #listOf: Uint16Array;
  readonly #nextOf: Int32Array;
  /** Per state, the first of the places that change in it. */
  #heads = new Int32Array(0);
  /** Places where something happened in this state. */
  #touched = new Int32Array(FIRST_ROOM);
  #touchedCount = 0;
  /** Distinct places that changed since the last report. */
  readonly #unreported: Int32Array;
  #unreportedCount = 0;
  readonly #isUnreported: Uint8Array;

  /** @param fingerprint of the current layout; several sweeps may share one */
  constructor(lives: Lives, places: Places, maxEnd: MaxEndPyramid, fingerprint: Fingerprint) {
    this.#fingerprint = fingerprint;
    this.#salt = fingerprint.newSalt();
    this.#lives = lives;
    this.#places = places;
    this.#maxEnd = maxEnd;
    this.#kinds = new Uint8Array(places.count);
    this.#fingerprinted = new Uint8Array(places.count);
    this.#reported = new Uint8Array(places.count);
    this.#ends = new Int32Array(places.count);
    this.#listOf = new Uint16Array(places.count);
    this.#nextOf = new Int32Array(places.count);
    this.#unreported = new Int32Array(places.count);
    this.#isUnreported = new Uint8Array(places.count);
  }

  /**
   * Resets to empty.
   * @param states for which `advance` will be called, ascending, fewer than 65,535
   */
  reset({ kindOf, pending, dimmed = NOBODY }: SweptKinds, states: Int32Array): void {
    this.#kindOf = kindOf;
    this.#pendingKind = pending;
    this.#dimmedKind = dimmed;
    this.#states = states;
    this.#nextRow = 0;
    this.#fingerprint.reset();
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

  /** Reports what differs from the last report. */
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

  /** Processes the places on this state's list. */
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

  /** Most of a frame's time is spent here: one loop on local variables. */
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
      const freed = waitsFrom(freeRequested[row], endsAt);
      const isPending = freed <= state;
      const kind = isPending && kindOf[row] !== dimmedKind ? pendingKind : kindOf[row];
      kinds[place] = kind;
      touched[touchedCount] = place;
      if (fingerprinted[place] !== kind) touchedCount++;
      ends[place] = endsAt;
      // In a trace that contradicts itself, an earlier block may still be there.
      if (listOf[place] !== UNLISTED) this.#unlist(place);
      const changes = isPending || freed > endsAt ? endsAt : freed;
      // Usually the block is gone by the next state, which avoids the list lookup.
      if (changes <= nextState) this.#putOn(next, place);
      else this.#enlist(place, changes);
    }
    this.#touchedCount = touchedCount;
  }

  /** Puts a place on the list of the first state that shows the event; on no list if no drawn state does. */
  #enlist(place: number, event: EventIndex): void {
    const index = lowerBound(this.#states, event);
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

  /** Updates the fingerprint, and collects the places for the next report. */
  #updateFingerprint(): void {
    const fingerprint = this.#fingerprint;
    const salt = this.#salt;
    const touched = this.#touched;
    const kinds = this.#kinds;
    const fingerprinted = this.#fingerprinted;
    for (let i = 0; i < this.#touchedCount; i++) {
      const place = touched[i];
      const before = fingerprinted[place];
      const after = kinds[place];
      if (before === after) continue;
      fingerprinted[place] = after;
      if (before !== NOBODY) fingerprint.remove(salt ^ ((place << KIND_BITS) | before));
      if (after !== NOBODY) fingerprint.add(salt ^ ((place << KIND_BITS) | after));
      if (this.#isUnreported[place] === 0) {
        this.#isUnreported[place] = 1;
        this.#unreported[this.#unreportedCount++] = place;
      }
    }
  }

  #makeRoom(more: number): void {
    const room = this.#touchedCount + more;
    if (room > this.#touched.length) this.#touched = enlarged(this.#touched, 2 * room);
  }
}

/**
 * A fingerprint of a set of small integers: equal sets agree, different sets collide once in 2^52. Adding or removing a
 * number costs a few multiplications.
 */
export class Fingerprint {
  /** Sums of two hashes of each number, modulo 2^32. */
  #low = 0;
  #high = 0;
  #salts = 0;

  get value(): number {
    return (this.#low >>> 0) * 2 ** 20 + (this.#high >>> 12);
  }

  newSalt(): number {
    return spread(this.#salts++);
  }

  reset(): void {
    this.#low = 0;
    this.#high = 0;
  }

  add(value: number): void {
    this.#low = (this.#low + spread(value)) | 0;
    this.#high = (this.#high + spread(~value)) | 0;
  }

  remove(value: number): void {
    this.#low = (this.#low - spread(value)) | 0;
    this.#high = (this.#high - spread(~value)) | 0;
  }
}
