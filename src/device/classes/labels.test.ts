import { expect, it } from 'vitest';
import { snapshotFromValue } from '../../format/snapshot/from-value.ts';
import { decodeSnapshot, encodeSnapshot } from '../../format/snapshot-file/compact-snapshot.ts';
import { prune } from '../../format/snapshot-file/prune.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { matchAllocations } from '../search/match-search.ts';
import { classify } from './classify.ts';
import { MEMORY_CLASSES } from './types.ts';

const A = 0x7f0000000000;
const entry = (time_us: number, action: string, addr: number) => {
  return { action, addr, size: 512, stream: 0, time_us, frames: [] };
};

/** One address that is used twice, and one that is used once. */
const events = [
  entry(10, 'alloc', A),
  entry(20, 'free_requested', A),
  entry(20, 'free_completed', A),
  entry(30, 'alloc', A),
  entry(40, 'alloc', A + 512),
];

function read(labels: unknown) {
  const snapshot = snapshotFromValue({ segments: [], device_traces: [events], labels });
  const [context] = contextsOf(snapshot);
  const found = classify(context);
  return Array.from(found.classOf, (of, id) => [MEMORY_CLASSES[of].id, found.names.get(id)]);
}

it('a label belongs to what was live at its address at that time', () => {
  const [first, second, third] = read([
    [15, A, 'gradients', 'head.weight'],
    [35, A, 'optimizer', 'exp_avg of head.weight'],
    [99, A + 512, 'inputs', ''],
    [5, A, 'parameters', 'of an allocation before the recording'],
  ]);
  expect(first).toEqual(['gradients', 'head.weight']);
  expect(second).toEqual(['optimizer-state', 'exp_avg of head.weight']);
  expect(third).toEqual(['inputs', undefined]);
});

it('of several labels, the one for the more lasting class wins', () => {
  const [first] = read([
    [12, A, 'activations', '(4, 8)'],
    [14, A, 'parameters', 'head.weight'],
    [16, A, 'activations', '(4, 8)'],
  ]);
  expect(first).toEqual(['parameters', 'head.weight']);
});

it('ignores anything that is not a list of such rows', () => {
  const plain = read(undefined);
  for (const labels of ['text', 3, [1, 2], [[15]], [['a', A, 'gradients', 'x']], { a: 1 }]) {
    expect(read(labels)).toEqual(plain);
  }
});

it('a report includes labels', () => {
  const labels = [[15, A, 'gradients', 'head.weight']];
  const snapshot = snapshotFromValue({ segments: [], device_traces: [events], labels });
  const shared = prune(snapshot, { stacks: false, paths: 'last-two' });
  const { snapshot: read } = decodeSnapshot(encodeSnapshot(shared));
  const [context] = contextsOf(read);
  expect([...classify(context).names]).toEqual([[0, 'head.weight']]);
});

it('a word of the search finds a name', () => {
  const labels = [[15, A, 'gradients', 'head.weight']];
  const snapshot = snapshotFromValue({ segments: [], device_traces: [events], labels });
  const [context] = contextsOf(snapshot);
  expect([...(matchAllocations(context, 'head.w', undefined).mask ?? [])]).toEqual([1, 0, 0]);
  expect([...(matchAllocations(context, 'tail', undefined).mask ?? [])]).toEqual([0, 0, 0]);
});

it("the page's recipe names what a real run allocated", () => {
  const [context] = contextsOf(loadCapture('record/labels.pickle.gz'));
  const { names, classOf } = classify(context);
  const named = (name: string) =>
    [...names].filter(([, own]) => own === name).map(([id]) => MEMORY_CLASSES[classOf[id]].id);
  expect(new Set(named('blocks.0.norm1.weight'))).toEqual(new Set(['parameters', 'gradients']));
  expect(new Set(named('exp_avg of blocks.0.norm1.weight'))).toEqual(new Set(['optimizer-state']));
});
