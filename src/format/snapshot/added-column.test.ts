/**
 * Adding a field of an event takes one line in the schema. This adds two, a text and a number that no PyTorch writes
 * yet, and changes nothing else.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EventReader } from '../../device/lists/event-reader.ts';
import { windowSnapshot } from '../../output/slice/window-snapshot.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { type PickleValue, writePickle } from '../../testing/write-pickle.ts';
import { cloneDevice, spreadEvents } from '../../worker/analysis/device-copy.ts';
import { decodeSnapshot, encodeSnapshot } from '../snapshot-file/compact-snapshot.ts';
import { prune } from '../snapshot-file/prune.ts';
import { SnapshotDecoder } from './decoder.ts';
import { EVENT_COLUMNS, type Snapshot } from './tables.ts';

const ADDED = {
  tensorName: { ...EVENT_COLUMNS.userMetadata, pickleKey: 'tensor_name' },
  priority: { type: 'f64', optional: true, pickleKey: 'priority' },
};

// Pretends that the two lines are there; other files' tests share the schema.
beforeAll(() => {
  Object.assign(EVENT_COLUMNS, ADDED);
});
afterAll(() => {
  for (const name of Object.keys(ADDED)) Reflect.deleteProperty(EVENT_COLUMNS, name);
});

const BASE = 2 ** 21;
const event = (offset: number, more: Readonly<Record<string, PickleValue>>) => ({
  action: 'alloc',
  addr: BASE + offset,
  size: 512,
  stream: 0,
  ...more,
});

const bytes = writePickle({
  segments: [],
  device_traces: [
    [
      event(0, { action: 'segment_alloc', size: 2 ** 21, tensor_name: '' }),
      event(0, { tensor_name: 'weight', priority: 3 }),
      event(512, { tensor_name: 'bias', priority: 7 }),
    ],
    [event(0, { tensor_name: '' })],
  ],
});

function decoded(): Snapshot {
  const decoder = new SnapshotDecoder();
  decoder.push(bytes);
  return decoder.finish();
}

/** The two columns of each device, with texts instead of rows. */
function added({ devices, strings }: Snapshot) {
  return devices.map(({ events }) => {
    const { tensorName, priority } = events as unknown as Readonly<
      Record<string, Int32Array | Float64Array | undefined>
    >;
    return {
      names:
        tensorName && Array.from(tensorName, (row) => (row < 0 ? undefined : strings.get(row))),
      priorities: priority && Array.from(priority),
    };
  });
}

const whole = { names: [undefined, 'weight', 'bias'], priorities: [Number.NaN, 3, 7] };

it('is decoded, and undefined on a device without it', () => {
  const snapshot = decoded();
  expect(added(snapshot)).toEqual([whole, { names: undefined, priorities: undefined }]);
  expect(snapshot.warnings).toEqual([]);
});

it('is in a part of a recording', () => {
  const [context] = contextsOf(decoded());
  const part = windowSnapshot(context, { from: 1, to: 3 });
  expect(added(part)).toEqual([{ names: ['weight', 'bias'], priorities: [3, 7] }]);
});

it('survives a report, with or without stacks', () => {
  const snapshot = decoded();
  for (const stacks of [true, false]) {
    const shared = prune(snapshot, { paths: 'last-two', stacks });
    expect(added(decodeSnapshot(encodeSnapshot(shared)).snapshot)).toEqual(added(snapshot));
  }
});

it('is among the details of an event', () => {
  const [context] = contextsOf(decoded());
  const reader = new EventReader(context);
  expect(reader.details(2)).toMatchObject({ tensorName: 'bias', priority: 7, unknownKeys: [] });
  expect(reader.details(0)).toMatchObject({ tensorName: undefined, priority: undefined });
});

it('is not sent to the analysis worker, which needs no carried column', async () => {
  const [context] = contextsOf(decoded());
  const copy = await cloneDevice(context, { now: () => 0, yieldTask: async () => {} });
  expect(spreadEvents(copy.events)).toMatchObject({ length: 3, tensorName: undefined });
});
