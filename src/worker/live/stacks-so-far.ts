/** The stacks that have been read of a file, as texts and as what their colors follow from. */

import type { Clock } from '../../base/task.ts';
import { StackReader } from '../../device/model/stacks.ts';
import { type StackSites, sitesOfStacks } from '../../draw/coloring/classes.ts';
import type { SnapshotSoFar } from '../../format/snapshot/snapshot-so-far.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';

/**
 * New stacks are taken in when this many times what that takes has passed: a recording with C++ frames
 * has 100,000 of them, and each time all are read.
 */
const PAUSE = 20;

interface Read {
  readonly reader: StackReader;
  readonly sites: StackSites;
  readonly count: number;
  readonly atMs: number;
  readonly costMs: number;
}

export class StacksSoFar {
  readonly #clock: Clock;
  #read: Read | undefined;
  #taken: StackSites | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reads a stack, which must be one of the file. */
  readerOf(soFar: SnapshotSoFar, stack: StackIndex): StackReader {
    if (this.#read === undefined || stack >= this.#read.count) this.#read = this.#readAll(soFar);
    return this.#read.reader;
  }

  /** Where they are others than the last time; stacks beyond them came since. */
  takeSites(soFar: SnapshotSoFar): StackSites | undefined {
    const read = this.#read;
    const isDue = read === undefined || this.#clock.now() - read.atMs > read.costMs * PAUSE;
    if (read === undefined || (isDue && soFar.stackCount > read.count)) {
      this.#read = this.#readAll(soFar);
    }
    const sites = this.#read?.sites;
    if (sites === this.#taken) return undefined;
    this.#taken = sites;
    return sites;
  }

  #readAll(soFar: SnapshotSoFar): Read {
    const startMs = this.#clock.now();
    const source = soFar.stackSource();
    const reader = new StackReader(source);
    const sites = sitesOfStacks(source, reader);
    const atMs = this.#clock.now();
    return { reader, sites, count: source.stacks.length, atMs, costMs: atMs - startMs };
  }
}
