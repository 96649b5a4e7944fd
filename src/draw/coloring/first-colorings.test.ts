import { describe, expect, test } from 'vitest';
import type { AllocationTable } from '../../allocator/replay/types.ts';
import { EMPTY_STACK, NO_STACK, type Snapshot } from '../../format/snapshot/tables.ts';
import { contextOf, traceOf } from '../../testing/contexts.ts';
import { type Life, syntheticReplay } from '../../testing/synthetic-replay.ts';
import {
  CLASS_BEFORE_RECORDING,
  CLASS_NO_CONTEXT,
  CLASS_NO_PYTHON_STACK,
  classesBySize,
  classesByStack,
  sizeEdge,
} from './first-colorings.ts';
import { FIRST_STACK_CLASS } from './site-colors.ts';

type StackText = readonly string[];

/** Stacks as text, innermost frame first: ['alloc a.py 3', 'main a.py 9']. Row i + 1 is stack i. */
function snapshotOf(
  stacks: readonly StackText[],
  firstStrings: readonly string[] = [],
): { snapshot: Pick<Snapshot, 'strings' | 'frames' | 'stacks'>; rows: number[] } {
  const texts = ['', ...firstStrings];
  const intern = (text: string): number => {
    if (!texts.includes(text)) texts.push(text);
    return texts.indexOf(text);
  };
  const frames = [...new Set(stacks.flat())];
  const parts = frames.map((frame) => frame.split(' '));
  const frame = [-1];
  const parent = [-1];
  const rows = stacks.map((stack) => {
    let row = 0;
    for (const text of stack.toReversed()) {
      frame.push(frames.indexOf(text));
      parent.push(row);
      row = frame.length - 1;
    }
    return row;
  });
  const name = Int32Array.from(parts, (part) => intern(part[0]));
  const filename = Int32Array.from(parts, (part) => intern(part[1]));
  const line = Int32Array.from(parts, (part) => Number(part[2]));
  return {
    rows,
    snapshot: {
      strings: { length: texts.length, get: (i) => texts[i] },
      frames: { length: frames.length, name, filename, line, extras: new Map() },
      stacks: {
        length: frame.length,
        frame: Int32Array.from(frame),
        parent: Int32Array.from(parent),
      },
    },
  };
}

function allocationsOf(lives: readonly Partial<Life>[]): AllocationTable {
  const full = lives.map((life, i) => ({ start: i, sizeBytes: 512, ...life }));
  return syntheticReplay(full, lives.length).allocations;
}

describe('classes by stack', () => {
  const A = ['empty a.py 3', 'main a.py 9'];
  const B = ['empty a.py 3', 'main a.py 10'];

  test('are the same in a file with other row numbers', () => {
    const one = snapshotOf([A, B]);
    const other = snapshotOf([['x y 1'], B, ['z z 2'], A], ['first', 'second']);
    const ofOne = classesByStack(
      allocationsOf(one.rows.map((stack) => ({ stack }))),
      one.snapshot,
      40,
    );
    const ofOther = classesByStack(
      allocationsOf(other.rows.map((stack) => ({ stack }))),
      other.snapshot,
      40,
    );
    expect([ofOther[3], ofOther[1]]).toEqual([...ofOne]);
    expect(ofOne[0]).not.toBe(ofOne[1]);
  });

  test('distinguish the three absences from each other and from all stacks', () => {
    const { snapshot, rows } = snapshotOf([A]);
    const allocations = allocationsOf([
      { start: -1, stack: NO_STACK },
      { start: -1, stack: rows[0] },
      { start: -1, stack: EMPTY_STACK },
      { start: 0, stack: NO_STACK },
      { start: 1, stack: EMPTY_STACK },
      { start: 2, stack: rows[0] },
    ]);
    const classes = classesByStack(allocations, snapshot, 10);
    expect(classes[0]).toBe(CLASS_BEFORE_RECORDING);
    expect(classes[2]).toBe(CLASS_BEFORE_RECORDING);
    expect(classes[3]).toBe(CLASS_NO_CONTEXT);
    expect(classes[4]).toBe(CLASS_NO_PYTHON_STACK);
    expect(classes[5]).toBeGreaterThanOrEqual(FIRST_STACK_CLASS);
    expect(classes[1]).toBe(classes[5]);
  });

  test('call a block with an empty stack from before the recording just that, not the backward pass', () => {
    const block = (address: number) => ({
      ...{ address, size: 512, requested_size: 512, state: 'active_allocated', frames: [] },
    });
    const blocks = [block(0x7f00_0000_0000), block(0x7f00_0000_0200)];
    const segment = {
      ...{ device: 0, address: 0x7f00_0000_0000, total_size: 2 ** 21, allocated_size: 1024 },
      ...{ active_size: 1024, stream: 0, segment_type: 'small', blocks },
    };
    const inBackward = { action: 'alloc', addr: 0x7f00_0000_0200, size: 512, frames: [] };
    const context = contextOf({ ...Object(traceOf(inBackward)), segments: [segment] });
    const { replay, snapshot } = context;
    expect(classesByStack(replay.allocations, snapshot, 10)).toEqual(
      Uint8Array.of(CLASS_BEFORE_RECORDING, CLASS_NO_PYTHON_STACK),
    );
  });

  test('are those of a Python-only recording, whichever path C++ took', () => {
    const [unwind, launch, mm] = ['unwind ?? 0', 'launch ?? 0', 'at::native::mm ?? 0'];
    const { snapshot, rows } = snapshotOf([
      A,
      [unwind, A[0], launch, A[1]],
      [mm, A[0], A[1]],
      B,
      [unwind, B[0], B[1]],
    ]);
    const classes = classesByStack(allocationsOf(rows.map((stack) => ({ stack }))), snapshot, 253);
    const { snapshot: alone, rows: own } = snapshotOf([A, B]);
    const expected = classesByStack(allocationsOf(own.map((stack) => ({ stack }))), alone, 253);
    const [a, b] = expected;
    expect([...classes]).toEqual([a, a, a, b, b]);
    expect(a).not.toBe(b);
  });

  test('of C++ do not depend on plumbing, unless there is nothing else', () => {
    const { snapshot, rows } = snapshotOf([
      ['unwind ?? 0', 'at::native::mm ?? 0'],
      ['launch ?? 0', 'at::native::mm ?? 0'],
      ['unwind ?? 0'],
      ['launch ?? 0'],
    ]);
    const classes = classesByStack(allocationsOf(rows.map((stack) => ({ stack }))), snapshot, 253);
    expect(classes[0]).toBe(classes[1]);
    expect(classes[2]).not.toBe(classes[3]);
  });

  test('belong to one site each, as long as they last; then the lightest share some', () => {
    const classesOf = (sites: number) => {
      const texts = Array.from({ length: sites }, (_, i) => [`f a.py ${i}`]);
      const { snapshot, rows } = snapshotOf(texts);
      const lives = rows.map((stack, i) => ({ stack, sizeBytes: 512 * (sites - i) }));
      return classesByStack(allocationsOf(lives), snapshot, 23);
    };
    const enough = classesOf(20);
    expect([...enough].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 3 + i));
    const tooFew = classesOf(400);
    expect(new Set(tooFew.subarray(0, 18)).size).toBe(18);
    const shared = tooFew.subarray(18);
    expect(new Set(shared)).toEqual(new Set([21, 22]));
    expect(shared.filter((one) => one === 21).length).toBeGreaterThan(100);
    expect(shared.filter((one) => one === 22).length).toBeGreaterThan(100);
  });

  test('need space for the absences', () => {
    const { snapshot } = snapshotOf([A]);
    expect(() => classesByStack(allocationsOf([]), snapshot, 3)).toThrow(RangeError);
    expect(() => classesByStack(allocationsOf([]), snapshot, 254)).toThrow(RangeError);
  });
});

describe('classes by size', () => {
  test('rise with the powers of two and end in the first and last class', () => {
    const sizes = [0, 512, 4095, 4096, 32767, 32768, 2 ** 33, 2 ** 40];
    const classes = classesBySize(allocationsOf(sizes.map((sizeBytes) => ({ sizeBytes }))), 9);
    expect([...classes]).toEqual([0, 0, 0, 1, 1, 2, 8, 8]);
  });

  test('begin at their edges', () => {
    expect([0, 1, 2, 8, 9].map((at) => sizeEdge(at, 9))).toEqual([
      0,
      4096,
      32768,
      2 ** 33,
      Infinity,
    ]);
    for (let at = 1; at < 9; at++) {
      const edge = sizeEdge(at, 9);
      const sizes = [{ sizeBytes: edge - 1 }, { sizeBytes: edge }];
      expect([...classesBySize(allocationsOf(sizes), 9)]).toEqual([at - 1, at]);
    }
  });
});
