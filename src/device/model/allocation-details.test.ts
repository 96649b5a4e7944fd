import { describe, expect, test } from 'vitest';
import { NEVER } from '../../allocator/replay/types.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { allocationDetails, describeHit } from './allocation-details.ts';

const at = (line: number) => [{ name: 'f', filename: 'train.py', line }];
const alloc = { action: 'alloc', addr: 0x7f00, size: 700, frames: at(1) };

describe('an allocation', () => {
  const context = contextOf(
    traceOf(
      { action: 'segment_alloc', addr: 0x7f00, size: 2 ** 21, frames: at(1) },
      { ...alloc, stream: 0x50, compile_context: 'Torch-Compiled Region: 0/0' },
      { ...alloc, action: 'free_requested', frames: at(2) },
      { ...alloc, action: 'free_completed', frames: [] },
      { ...alloc, compile_context: 'N/A', user_metadata: 'epoch 2' },
      { ...alloc, action: 'free_requested' },
    ),
  );

  test('that is freed', () => {
    const details = allocationDetails(context, 0);
    expect(details).toMatchObject({
      label: 'b7f00_0',
      requestedBytes: 700,
      blockBytes: 1024,
      startEvent: 1,
      freeRequestedEvent: 2,
      endEvent: 3,
      startUs: 10,
      endUs: 30,
      state: 'freed',
      preexisting: false,
      stream: '0x50',
      pool: 'small',
      privatePool: undefined,
      freeStackIsAllocStack: false,
      compileContext: 'Torch-Compiled Region: 0/0',
      userMetadata: undefined,
      category: undefined,
    });
    expect(details.allocStack.frames).toMatchObject(at(1));
    expect(details.freeStack?.frames).toMatchObject(at(2));
    expect(details.topUserFrame).toMatchObject({ line: 1, kind: 'user' });
  });

  test('whose free is pending, requested by its own line where other frees have stacks of theirs', () => {
    const details = allocationDetails(context, 1);
    expect(details).toMatchObject({
      label: 'b7f00_1',
      state: 'pending',
      endEvent: NEVER,
      endUs: Number.NaN,
      freeStackIsAllocStack: false,
      stream: '0',
      compileContext: undefined,
      userMetadata: 'epoch 2',
    });
  });

  test('of a recording with context="alloc", where all frees repeat the stack of their allocation', () => {
    const free = { ...alloc, action: 'free_requested' };
    const repeated = contextOf(traceOf(alloc, free, alloc, free));
    expect(allocationDetails(repeated, 1)).toMatchObject({ freeStackIsAllocStack: true });
  });

  test('shares its site with all allocations of the same stack', () => {
    // One of them waits for a stream, but it was freed.
    const site = { allocations: 2, totalBytes: 2048, liveAtEnd: 0, liveAtEndBytes: 0 };
    expect(allocationDetails(context, 0).callSite).toEqual(site);
    expect(allocationDetails(context, 1).callSite).toEqual(site);
  });

  test('under the pointer', () => {
    const range = { ids: [0, 1], totalBytes: 2048, main: 1, mainBottomBytes: 512 };
    expect(describeHit(context, 4, range)).toEqual({
      count: 2,
      allocation: 1,
      label: 'b7f00_1',
      blockBytes: 1024,
      requestedBytes: 700,
      ageEvents: 0,
      ageUs: 0,
      isFromBefore: false,
      pending: false,
      stackKind: 'recorded',
      topFrame: {
        name: 'f',
        filename: 'train.py',
        line: 1,
        kind: 'user',
        isPlumbing: false,
        extras: undefined,
      },
      totalBytes: 2048,
      bottomBytes: 512,
    });
    expect(describeHit(context, 5, range)).toMatchObject({ ageUs: 10, pending: true });
    expect(describeHit(context, 4, { ids: [], totalBytes: 0, main: -1, mainBottomBytes: 0 })).toBe(
      undefined,
    );
  });

  test('waits under the pointer only if it cannot be used again in the next event', () => {
    const free = (action: string) => ({ ...alloc, action });
    const range = { ids: [0], totalBytes: 1024, main: 0, mainBottomBytes: 0 };
    const step = contextOf(traceOf(alloc, free('free_requested'), free('free_completed')));
    expect(describeHit(step, 1, range)).toMatchObject({ pending: true, usableFrom: 2 });
    const other = { ...alloc, addr: 0x9000 };
    const wait = contextOf(traceOf(alloc, free('free_requested'), other, free('free_completed')));
    expect(describeHit(wait, 2, range)).toMatchObject({ pending: true, usableFrom: undefined });
  });
});

test('from before the trace has no known start', () => {
  const [context] = contextsOf(loadCapture('train_recorded_late.pickle.gz'));
  const details = allocationDetails(context, 0);
  expect(details).toMatchObject({ preexisting: true, startEvent: -1, startUs: Number.NaN });
  expect(details.allocStack).toEqual({ kind: 'before-recording', frames: [] });
  const range = { ids: [0], totalBytes: 512, main: 0, mainBottomBytes: 0 };
  expect(describeHit(context, 9, range)).toMatchObject({ ageEvents: 9, isFromBefore: true });
});

test('of a CUDA graph names its private pool', () => {
  const [context] = contextsOf(loadCapture('cuda_graph_pool.pickle.gz'));
  const { allocations } = context.replay;
  const pools = new Set<string | undefined>();
  for (let id = 0; id < allocations.length; id++) {
    pools.add(allocationDetails(context, id).privatePool);
  }
  expect(pools.size).toBeGreaterThan(1);
  expect(pools).toContain(undefined);
});

test('forward lines of anomaly mode are kept apart', () => {
  const { forwardFrames } = allocationDetails(
    contextOf(traceOf({ ...alloc, frames: [], forward_frames: ['a.py:1:f', 'a.py:2:g'] })),
    0,
  );
  expect(forwardFrames?.join('|').replaceAll('\n', '')).toBe('a.py:1:f|a.py:2:g');
});

test('an allocation has the annotations that it was made in, outermost first', () => {
  const [context] = contextsOf(loadCapture('train_annotated.pickle.gz'));
  const { allocations, peaks } = context.replay;
  const id = allocations.start.indexOf(peaks.allocatedBytes.event);
  expect(allocationDetails(context, id).annotations).toEqual(['## step 1 ##', '## backward ##']);
  expect(allocationDetails(context, 0).annotations).toEqual([]);
});

test('shows what _annotate_tensor said about it while it was live', () => {
  const annotate = (user_metadata: string, addr = alloc.addr) => ({
    action: 'annotate',
    addr,
    size: 700,
    user_metadata,
  });
  const context = contextOf(
    traceOf(
      annotate('of nobody'),
      { ...alloc, user_metadata: 'made' },
      annotate('saved for backward'),
      annotate('of another', 0x9000),
      annotate('kv cache'),
      { ...alloc, action: 'free_requested' },
      { ...alloc, action: 'free_completed' },
      annotate('of the next'),
      alloc,
    ),
  );
  expect(allocationDetails(context, 0)).toMatchObject({
    userMetadata: 'made',
    laterMetadata: ['saved for backward', 'kv cache'],
  });
  expect(allocationDetails(context, 1).laterMetadata).toEqual([]);
});
