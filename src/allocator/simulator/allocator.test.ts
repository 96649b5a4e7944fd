import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BlockRow, NO_BLOCK } from '../replay/block-list.ts';
import { type AllocSettings, parseAllocConf } from './alloc-conf.ts';
import { CachingAllocator } from './allocator.ts';
import { DeviceMemory } from './device-memory.ts';
import { BlockUse } from './free-blocks.ts';

const MIB = 2 ** 20;
const STREAMS = 3;
const CONFS = [
  '',
  'expandable_segments:True',
  'max_split_size_mb:21',
  'max_split_size_mb:64,garbage_collection_threshold:0.3',
  'garbage_collection_threshold:0.6',
  'roundup_power2_divisions:4',
  'expandable_segments:True,max_split_size_mb:32,roundup_power2_divisions:[1:2,16:8,>:4]',
];

function settingsOf(text: string): AllocSettings {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf.settings;
}

function allocatorOf(text: string, limitBytes: number): CachingAllocator {
  const memory = new DeviceMemory(limitBytes, () => undefined);
  return new CachingAllocator(settingsOf(text), memory, STREAMS, {
    beforeRelease: () => undefined,
    likelyAddresses: () => [],
  });
}

/** Checks everything that must hold between requests; names what does not. Kept simple because it runs often. */
function broken({ table, arenas, memory }: CachingAllocator, used: readonly BlockRow[]): string[] {
  const { address, sizeBytes, use, next, prev } = table;
  const rows = table.rows().sort((a, b) => address[a] - address[b]);
  const found = new Set<string>();
  const must = (holds: boolean, what: string) => {
    if (!holds) found.add(what);
  };
  const held = rows.filter((row) => use[row] !== BlockUse.Unmapped);
  const heldBytes = held.reduce((sum, row) => sum + sizeBytes[row], 0);
  must(heldBytes === memory.reservedBytes, 'free + used = reserved');
  rows.forEach((row, i) => {
    const after = rows[i + 1];
    const end = address[row] + sizeBytes[row];
    must(sizeBytes[row] > 0, 'no block is empty');
    must(after === undefined || end <= address[after], 'blocks do not overlap');
    if (next[row] === NO_BLOCK) return;
    must(next[row] === after && prev[after] === row && end === address[after], 'chains are whole');
    must(use[row] === BlockUse.Used || use[row] !== use[after], 'free neighbors are merged');
  });
  const sameRows = (a: readonly number[], b: readonly number[]) =>
    [...a].sort().join() === [...b].sort().join();
  const isUsed = (row: number) => use[row] === BlockUse.Used;
  must(sameRows(rows.filter(isUsed), used), 'used are the used ones');
  const listed = arenas.all.flatMap((arena) => [...arena.free.all(), ...arena.unmapped]);
  must(
    sameRows(
      listed,
      rows.filter((row) => !isUsed(row)),
    ),
    'the lists hold all that is not used',
  );
  for (const { free } of arenas.all) {
    const order = [...free.all()].sort(
      (a, b) => sizeBytes[a] - sizeBytes[b] || address[a] - address[b],
    );
    must(order.join() === free.all().join(), 'free blocks are in order');
  }
  return [...found];
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('alloc'),
      // Equally many small and large ones: 1 byte to 128 MiB, spread by orders of magnitude.
      bytes: fc.tuple(fc.integer({ min: 0, max: 27 }), fc.double({ min: 0, max: 1, noNaN: true })),
      stream: fc.nat(STREAMS - 1),
      pool: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('free'), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty') }) },
);

test('blocks never overlap, free plus used is reserved, and freeing everything leaves nothing', () => {
  const limit = fc.constantFrom(Infinity, 100 * MIB, 300 * MIB);
  fc.assert(
    fc.property(
      fc.constantFrom(...CONFS),
      limit,
      fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }),
      (conf, limitBytes, steps) => {
        const allocator = allocatorOf(conf, limitBytes);
        const used: BlockRow[] = [];
        // Expandable segments are mapped by whole pages, which the check against the limit ignores.
        const slack = conf.includes('expandable') ? 20 * MIB : 0;
        let privatePool = false;
        for (const one of steps) {
          if ('bytes' in one) {
            const [power, share] = one.bytes;
            const bytes = Math.floor(2 ** power * (1 + share));
            const row = allocator.malloc(bytes, one.stream, one.pool);
            privatePool ||= one.pool > 0;
            if (row !== NO_BLOCK) {
              used.push(row);
              expect(allocator.table.sizeBytes[row]).toBeGreaterThanOrEqual(bytes);
            }
          } else if ('which' in one) {
            const [row] = used.splice(one.which % Math.max(1, used.length), 1);
            if (row !== undefined) {
              allocator.requestFree(row);
              allocator.completeFree(row);
            }
          } else {
            allocator.emptyCache();
          }
          expect(broken(allocator, used)).toEqual([]);
          expect(allocator.memory.reservedBytes).toBeLessThanOrEqual(limitBytes + slack);
        }
        for (const row of used) {
          allocator.requestFree(row);
          allocator.completeFree(row);
        }
        expect(allocator.allocatedBytes).toBe(0);
        allocator.emptyCache();
        expect(broken(allocator, [])).toEqual([]);
        // A graph may still use a private pool, so it keeps its memory.
        if (!privatePool) expect(allocator.memory.reservedBytes).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

test('expandable: maps pages for what is missing at the end, unmaps whole free pages', () => {
  const { memory, ...rest } = watched('expandable_segments:True');
  const a = rest.alloc(30 * MIB);
  expect(memory.reservedBytes).toBe(40 * MIB);
  // 10 MiB are free: 15 MiB need 5 more, which is one page.
  rest.alloc(15 * MIB);
  expect(memory.reservedBytes).toBe(60 * MIB);
  rest.free(a);
  rest.allocator.emptyCache();
  // Of the 30 MiB at the front, the first page is released and the second is shared; the 15 MiB at the end hold no
  // whole page.
  expect(memory.reservedBytes).toBe(40 * MIB);
  // The lowest gap comes first: one page there and the 10 MiB behind it.
  rest.alloc(25 * MIB);
  expect(memory.reservedBytes).toBe(60 * MIB);
});

test('max_split_size_mb: blocks of that size or more serve only requests of that size', () => {
  const { memory, ...rest } = watched('max_split_size_mb:64');
  rest.free(rest.alloc(64 * MIB));
  rest.alloc(30 * MIB);
  expect(memory.reservedBytes).toBe(94 * MIB);
  rest.alloc(64 * MIB);
  expect(memory.reservedBytes).toBe(94 * MIB);
});

test('collects garbage above the threshold, oldest first, only with a limit', () => {
  const { memory, ...rest } = watched('garbage_collection_threshold:0.5', 200 * MIB);
  rest.free(rest.alloc(60 * MIB));
  const b = rest.alloc(70 * MIB);
  rest.free(b);
  // 130 MiB exceed 100: the 60, unused for longer, are released before 90 are requested.
  rest.alloc(90 * MIB);
  expect(memory.reservedBytes).toBe(160 * MIB);
});

function watched(conf: string, limitBytes = Infinity) {
  const allocator = allocatorOf(conf, limitBytes);
  return {
    allocator,
    memory: allocator.memory,
    alloc: (bytes: number) => allocator.malloc(bytes, 0, 0),
    free: (row: BlockRow) => {
      allocator.requestFree(row);
      allocator.completeFree(row);
    },
  };
}

test('parts of segments from before the recording are not released, however large they are', () => {
  const allocator = allocatorOf('max_split_size_mb:64', 300 * MIB);
  const { table, memory, arenas } = allocator;
  const arena = arenas.get(0, false, 0);
  // Recorded under another setting: 50 MiB in use at the front of 200 MiB.
  const used = table.add(2 ** 30, 200 * MIB, arena.index);
  memory.seed(200 * MIB);
  arena.free.add(table.cut(used, 50 * MIB));
  table.use[used] = BlockUse.Used;
  allocator.seedAllocated(used);
  for (const bytes of [120 * MIB, 160 * MIB]) {
    expect(allocator.malloc(bytes, 0, 0)).toBe(NO_BLOCK);
    expect(broken(allocator, [used])).toEqual([]);
    expect(memory.reservedBytes).toBe(200 * MIB);
  }
});
