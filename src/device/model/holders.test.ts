/**
 * A run on a GPU that vramscope.record wrote with names: fixtures/capture/holders.py says what each holder gave back.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import { decodeSnapshot, encodeSnapshot } from '../../format/snapshot-file/compact-snapshot.ts';
import { prune } from '../../format/snapshot-file/prune.ts';
import { windowSnapshot } from '../../output/slice/window-snapshot.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { classify } from '../classes/classify.ts';
import { MemoryClass } from '../classes/types.ts';
import { matchAllocations } from '../search/match-search.ts';
import { holderOf, holderRows, holderShare, holderTotals, ownerText } from './holders.ts';

const truth: Readonly<Record<string, number>> = JSON.parse(
  readFileSync('fixtures/record/holders.truth.json', 'utf8'),
);
const snapshot = loadCapture('record/holders.pickle.gz');
const [context] = contextsOf(snapshot);
const END = context.trace.events.length - 1;

function bytesBy(found: Snapshot): Readonly<Record<string, number>> {
  const [own] = contextsOf(found);
  const sums: Record<string, number> = {};
  for (const { owner, bytes } of holderTotals(own)) {
    const key = owner.via === 'cycle' ? 'cycle' : owner.name.replace(' in main()', '');
    sums[key] = (sums[key] ?? 0) + bytes;
  }
  return sums;
}

test('each holder has the bytes that were freed when the program dropped it', () => {
  expect(bytesBy(snapshot)).toMatchObject({
    cycle: truth.cycle,
    "losses['train']": truth["losses['train']"],
    'trainer.outputs': truth['trainer.outputs'],
    'trainer.optimizer': truth.optimizer,
  });
});

test('the live memory without a name is the workspaces', () => {
  const share = holderShare(context);
  expect(share?.liveBytes).toBe(truth.allocated);
  const { mask } = matchAllocations(context, 'holder:""', END);
  const nameless = [...(mask ?? [])].flatMap((isHit, id) => (isHit === 1 ? [id] : []));
  const { classOf } = classify(context);
  expect(nameless.map((id) => classOf[id])).toEqual(nameless.map(() => MemoryClass.Workspaces));
});

test('the largest is named as a person would', () => {
  const [largest] = holderTotals(context);
  expect(largest.isGraph).toBe(true);
  expect(ownerText(largest.owner, true)).toBe(
    "the graph of `losses in main()['train']`, a deque of 4",
  );
  const cycle = holderTotals(context).find(({ owner }) => owner.via === 'cycle');
  expect(cycle?.owner).toMatchObject({ name: 'Callback.seen', through: 'Callback.trainer' });
  expect(cycle?.owner.line).toBeGreaterThan(0);
});

test('what a module or an optimizer holds has the matching class', () => {
  const { classOf, names } = classify(context);
  for (const [id, row] of holderRows(context)?.entries() ?? []) {
    const holder = row < 0 ? undefined : holderOf(context, id);
    if (holder?.kind === 'optimizer') expect(classOf[id]).toBe(MemoryClass.OptimizerState);
    if (holder?.kind === 'parameter') expect(classOf[id]).toBe(MemoryClass.Parameters);
    if (holder !== undefined) expect(names.get(id)).toBe(holder.name);
  }
});

test('a search for a holder finds its bytes, in any case', () => {
  const { mask } = matchAllocations(context, 'holder:LOSSES', END);
  const sizes = Array.from(context.replay.allocations.sizeBytes);
  const bytes = sizes.reduce((sum, own, id) => sum + (mask?.[id] === 1 ? own : 0), 0);
  expect(bytes).toBe(truth["losses['train']"]);
  expect(matchAllocations(context, 'holder:nobody', END).mask?.includes(1)).toBe(false);
});

describe('in a report', () => {
  const packed = (part: Snapshot) => decodeSnapshot(encodeSnapshot(part)).snapshot;

  test('the names are included, unless omitted', () => {
    expect(bytesBy(packed(prune(snapshot, { paths: 'whole', stacks: true })))).toEqual(
      bytesBy(snapshot),
    );
    const bare = packed(prune(snapshot, { paths: 'last-two', stacks: false }));
    expect(bytesBy(bare)).toEqual(bytesBy(snapshot));
    expect(bare.holders?.owners.some(({ file }) => file !== undefined)).toBe(false);
    const silent = packed(prune(snapshot, { paths: 'whole', stacks: true, holders: false }));
    expect(silent.holders).toBeUndefined();
    const strings = Array.from({ length: silent.strings.length }, (_, i) => silent.strings.get(i));
    expect(strings.filter((text) => /trainer in main|losses in main/.test(text))).toEqual([]);
  });

  test('a part that ends earlier has the names of what existed by then', () => {
    const { length } = context.trace.events;
    const { start } = context.replay.allocations;
    for (const to of [1, Math.floor(length / 2), length - 1, length]) {
      const [part] = contextsOf(packed(windowSnapshot(context, { from: 0, to })));
      const expected = [...(holderRows(context) ?? [])].filter(
        (row, id) => row >= 0 && start[id] < to,
      );
      const found = [...(holderRows(part) ?? [])].filter((row) => row >= 0);
      expect(found).toHaveLength(expected.length);
    }
  });
});

/** The names as vramscope.holders writes them, in JSON. */
function written(holders: unknown): unknown {
  const frames = [{ name: 'f', filename: 'a.py', line: 1 }];
  const trace = traceOf({ action: 'alloc', addr: 512, size: 512, frames });
  return { ...(trace as object), holders };
}

describe('a damaged or newer file', () => {
  const owners = [{ name: 'x', type: 'list', length: -1, line: 'two', via: 3 }, 7];
  const storages = {
    address: [512, 'a', 512],
    bytes: [512, 1, 1],
    name: ['x', 'y', 3],
    kind: ['new', '', ''],
    owner: [0, 0, 9],
  };

  test('keeps the rows that can be read, and counts the others', () => {
    const own = contextOf(written({ version: 1, storages, owners, left: 'much' }));
    expect(holderOf(own, 0)).toEqual({
      name: 'x',
      kind: 'tensor',
      owner: { name: 'x', type: 'list' },
    });
    expect(own.snapshot.warnings.map(({ message }) => message).join()).toContain(
      "2 values of 'holders'",
    );
  });

  test.each([{ version: 2, storages, owners }, 'text', [], { version: 1, storages: [] }, null])(
    'has no names: %j',
    (holders) => {
      const own = contextOf(written(holders));
      expect(own.snapshot.holders).toBeUndefined();
      expect(holderTotals(own)).toEqual([]);
      expect(holderShare(own)).toBeUndefined();
    },
  );
});
