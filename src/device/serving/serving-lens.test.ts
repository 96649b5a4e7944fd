/**
 * A server's memory against what the servers themselves said: fixtures/serving/NAME.truth.json has each pool as the
 * allocator counted it at several moments, and the blocks of the tensors that the program knows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumBy } from '../../base/collections.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { gib, sampleOf, withLedger } from '../../testing/with-ledger.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { hasServing, type ServingPart, servingLens } from './serving-lens.ts';
import { servingNotes } from './serving-notes.ts';
import { sleepSigns } from './sleep.ts';

interface Truth {
  readonly pools: Readonly<Record<string, readonly [number, number]>>;
  readonly profileRun?: { readonly peakBytes: number; readonly keptBytes: number };
  readonly batches?: readonly { readonly peakBytes: number }[];
  readonly moments: readonly {
    readonly name: string;
    readonly event: number;
    /** By pool id: '(0, 3)'. */
    readonly pools: Readonly<Record<string, PoolTruth>>;
    /** Block bytes of known tensors, by pool. */
    readonly held: Readonly<Record<string, Readonly<Record<string, number>>>>;
    readonly stats: Readonly<Record<string, number>>;
  }[];
}

interface PoolTruth {
  readonly reservedBytes: number;
  readonly activeBytes: number;
}

const NAMES = readdirSync('fixtures/serving')
  .filter((name) => name.endsWith('.truth.json'))
  .map((name) => name.replace('.truth.json', ''));

const truthOf = (name: string): Truth =>
  JSON.parse(readFileSync(`fixtures/serving/${name}.truth.json`, 'utf8'));
const serverOf = (name: string): DeviceModel =>
  contextsOf(loadCapture(`serving/${name}.pickle.gz`))[0];

const total = (held: Readonly<Record<string, number>> = {}) =>
  sumBy(Object.values(held), (bytes) => bytes);

/** The bytes of a part; 0 without it. */
const bytesOf = ({ parts }: ReturnType<typeof servingLens>, wanted: ServingPart) =>
  parts.find(({ part }) => part === wanted)?.bytes ?? 0;

/** Recorded from before the weights were loaded. */
describe.each(['vllm_like', 'sglang_like', 'own', 'oom'])('%s', (name) => {
  it.each(truthOf(name).moments)('$name: weights and KV cache to the byte', ({ event, held }) => {
    const lens = servingLens(serverOf(name), event);
    expect(bytesOf(lens, 'weights')).toBe(total(held.weights));
    expect(bytesOf(lens, 'kv-cache')).toBe(total(held.kvCache));
    // Between batches there is nothing else but input buffers. If memory ran out in one, they can't be told from its tensors.
    const atMost = name === 'oom' ? total(held.inputs) : 0;
    expect(bytesOf(lens, 'batch')).toBeLessThanOrEqual(atMost);
  });
});

describe.each(['sglang_like', 'own'])('%s', (name) => {
  it('finds the largest batch, and when', () => {
    const { batches = [], moments } = truthOf(name);
    const { largestBatch } = servingLens(serverOf(name), moments[0].event);
    const peaks = batches.map(({ peakBytes }) => peakBytes);
    expect(peaks).toContain(largestBatch.bytes);
    expect(largestBatch.bytes).toBe(Math.max(...peaks));
  });
});

describe.each(NAMES)('%s', (name) => {
  const truth = truthOf(name);
  const context = serverOf(name);

  it.each(truth.moments)('$name: the parts add up to what was reserved', ({ event, stats }) => {
    const { parts } = servingLens(context, event);
    expect(sumBy(parts, ({ bytes }) => bytes)).toBe(stats['reserved_bytes.all.current']);
  });

  it.each(truth.moments)('$name: every private pool to the byte', ({ event, pools }) => {
    const shown = servingLens(context, event).pools.filter((pool) => pool.reservedBytes > 0);
    const wanted = Object.entries(pools).filter(([id]) => id !== '(0, 0)');
    const pairs = shown.map(({ id, reservedBytes, liveBytes, strandedBytes }) => {
      expect(strandedBytes).toBe(reservedBytes - liveBytes);
      return [id, reservedBytes, liveBytes];
    });
    expect(new Set(pairs.map(String))).toEqual(
      new Set(wanted.map(([id, own]) => String([id, own.reservedBytes, own.activeBytes]))),
    );
  });
});

/** PyTorch keeps a seed and an offset for graphs, in blocks of 512 bytes. */
const RANDOM_STATE_BYTES = 1024;

describe('a server like vLLM', () => {
  const truth = truthOf('vllm_like');
  const context = serverOf('vllm_like');
  const at = (wanted: string) => {
    const [moment] = truth.moments.filter(({ name }) => name === wanted);
    return moment;
  };

  it('tells the pools of graphs from others, whatever their ids', () => {
    const { pools } = servingLens(context, at('end').event);
    const kinds = Object.fromEntries(pools.map(({ id, kind }) => [id, kind]));
    const idOf = (name: string) => `(${truth.pools[name].join(', ')})`;
    expect(kinds).toEqual({
      [idOf('weights')]: 'MemPool',
      [idOf('kvCache')]: 'MemPool',
      [idOf('graphs')]: 'CUDA graph',
      [idOf('encoder384')]: 'CUDA graph',
      [idOf('encoder96')]: 'CUDA graph',
    });
  });

  it('counts outputs of graphs in the pool of their graph, and input buffers apart', () => {
    const { event, held } = at('captured');
    const lens = servingLens(context, event);
    expect(bytesOf(lens, 'other')).toBe(
      total(held.inputs) + total(held.encoderInputs) + RANDOM_STATE_BYTES,
    );
    const pool = lens.pools.find(({ id }) => id === '(0, 3)');
    expect(pool?.liveBytes).toBe(total(held.graphOutputs));
  });

  it('finds the largest batch: the one that vLLM profiles to size its KV cache', () => {
    const { peakBytes = 0, keptBytes = 0 } = truth.profileRun ?? {};
    const { largestBatch } = servingLens(context, at('end').event);
    expect(largestBatch.bytes).toBe(peakBytes - keptBytes);
    expect(bytesOf(servingLens(context, largestBatch.event), 'batch')).toBe(largestBatch.bytes);
  });
});

describe('any program', () => {
  it.each([
    { what: 'native', settings: [] },
    { what: 'expandable', settings: ['set expandable_segments=true'] },
  ])('$what: the parts add up to reserved memory after each event', ({ settings }) => {
    const inPools = allocatorProgram(settings).map((lines) =>
      lines.map((line, i) => (line.startsWith('+') && i % 3 === 0 ? `${line} pool=0,1` : line)),
    );
    fc.assert(
      fc.property(fc.oneof(allocatorProgram(settings), inPools), (lines) => {
        const drawn = snapshotFromText(lines.map(poolFirst).join('\n'));
        const [context] = contextsOf(drawn.snapshot);
        for (let event = -1; event < context.trace.events.length; event++) {
          const { parts, pools } = servingLens(context, event);
          const { reservedBytes, activeBytes } = drawn.counters[0][event + 1];
          expect(sumBy(parts, ({ bytes }) => bytes)).toBe(reservedBytes);
          const live = parts.filter(({ part }) => part !== 'cached' && part !== 'free-in-pools');
          expect(sumBy(live, ({ bytes }) => bytes)).toBe(activeBytes);
          expect(pools.every((pool) => pool.liveBytes <= pool.reservedBytes)).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });
});

it('counts a block in an emptied part of an expandable segment as its pool', () => {
  const { snapshot } = snapshotFromText(`
    set expandable_segments=true
    +kept 2Mi pool=0,1 @step.py:3 run
    +A 19Mi pool=0,1 @step.py:6 run
    +B 20Mi pool=0,1 @step.py:7 run
    -A
    -B
    empty
  `);
  const [context] = contextsOf(snapshot);
  const { pools, parts } = servingLens(context, 5);
  expect(pools.map(({ liveBytes }) => liveBytes)).toEqual([41 * 2 ** 20]);
  expect(parts.map(({ part }) => part)).toEqual(['unknown', 'free-in-pools']);
});

/** The notation wants a block's pool before its stack. */
const poolFirst = (line: string): string => line.replace(/( @.*) (pool=\S+)$/, ' $2$1');

describe('an allocator that can sleep', () => {
  const cumem = '@vllm/device_allocator/cumem.py:210 sleep < vllm/v1/worker/gpu_worker.py:90 sleep';

  it('is known by the stacks of what it does besides, with its moments', () => {
    const { snapshot, eventOf } = snapshotFromText(`
      +weights 300Mi pool=0,1 @gpu_worker.py:20 load_model
      +A 30Mi @model.py:5 forward
      -A
      +buffer 1Mi ${cumem}
      +B 30Mi @model.py:5 forward
      +woken 1Mi @vllm/device_allocator/cumem.py:260 wake_up
    `);
    const [context] = contextsOf(snapshot);
    expect(sleepSigns(context)).toEqual({
      allocator: 'CuMemAllocator',
      moments: [
        // Its segment comes first.
        { event: eventOf('+buffer') - 1, isWaking: false },
        { event: eventOf('+woken'), isWaking: true },
      ],
    });
    const notes = servingNotes(servingLens(context, eventOf('+B')));
    expect(notes.at(-1)).toMatch(/^CuMemAllocator manages memory here .* PyTorch still counts it/);
  });

  it('shows in a ledger as reserved memory that is not on the card', () => {
    const { snapshot } = snapshotFromText(`
      +weights 300Mi pool=0,1 @server.py:5 load_model
      +A 1Mi @server.py:9 serve
    `);
    const notesOf = (...processBytes: readonly number[]) => {
      const samples = processBytes.map((bytes, i) =>
        sampleOf({ timeUs: 10 * i, processBytes: bytes, freeBytes: gib(80) - bytes }),
      );
      const [context] = contextsOf(withLedger(snapshot, samples));
      return servingNotes(servingLens(context, 3)).join(' ');
    };
    // PyTorch counts 10 GiB as reserved.
    expect(notesOf(gib(11), gib(4))).toContain(
      'at least 6.00 GiB that PyTorch counts as reserved was not on the GPU',
    );
    expect(notesOf(gib(11), gib(4))).toContain('at least 6.00 GiB at the last sample');
    expect(notesOf(gib(4), gib(11))).toContain('none shows at the last sample');
    expect(notesOf(gib(11), gib(11))).toContain("we can't tell when they slept");
  });

  it('is not claimed without a stack: a MemPool may or may not sleep', () => {
    const [context] = contextsOf(
      snapshotFromText('+A 30Mi pool=0,1 @server.py:5 load_model').snapshot,
    );
    expect(sleepSigns(context)).toBeUndefined();
    expect(servingNotes(servingLens(context, 1)).at(-1)).toMatch(/we can't tell when they slept/);
  });
});

it('a program that trains is no server', () => {
  const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
  expect(servingLens(context, 100).isServer).toBe(false);
  expect(hasServing(context)).toBe(false);
});

it('a shared pool of graphs has a MemPool’s id, and is told by the code that captures', () => {
  const alloc = (name: string, filename: string) =>
    contextOf(
      traceOf(
        { action: 'segment_alloc', addr: 2 ** 21, size: 2 ** 21, pool_id: [0, 3] },
        {
          action: 'alloc',
          addr: 2 ** 21,
          size: 512,
          pool_id: [0, 3],
          frames: [{ name, filename, line: 1 }],
        },
      ),
    );
  const kindOf = (name: string, filename: string) =>
    servingLens(alloc(name, filename), 1).pools.map(({ kind }) => kind);
  expect(kindOf('capture_model', '/usr/lib/vllm/v1/worker/gpu_model_runner.py')).toEqual([
    'CUDA graph',
  ]);
  expect(kindOf('__call__', '/usr/lib/vllm/compilation/cuda_graph.py')).toEqual(['CUDA graph']);
  expect(kindOf('capture', '/usr/lib/sglang/srt/model_executor/cuda_graph_runner.py')).toEqual([
    'CUDA graph',
  ]);
  expect(kindOf('capture_frames', '/workspace/camera.py')).toEqual(['MemPool']);
});
