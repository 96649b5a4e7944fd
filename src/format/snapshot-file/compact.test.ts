import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoadError } from '../../base/load-error.ts';
import { windowSnapshot } from '../../output/slice/window-snapshot.ts';
import { captureBytes, captureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf, describeStack } from '../../testing/contexts.ts';
import { differences } from '../../testing/differences.ts';
import type { Snapshot } from '../snapshot/tables.ts';
import { readCompactFile } from './compact-file.ts';
import { decodeSnapshot, encodeSnapshot } from './compact-snapshot.ts';
import { prune } from './prune.ts';

/** The tables' content, comparable even if rows of strings and stacks have moved. */
function contentOf(snapshot: Snapshot) {
  const { strings, annotations, devices, settings, warnings, addresses } = snapshot;
  const text = (column: Int32Array | undefined) =>
    column && Array.from(column, (row) => (row < 0 ? undefined : strings.get(row)));
  const stacks = (column: Int32Array) => {
    const known = new Map<number, string>();
    return Array.from(column, (stack) => {
      const words = known.get(stack) ?? describeStack(snapshot, stack);
      known.set(stack, words);
      return words;
    });
  };
  return {
    settings,
    warnings,
    regions: addresses.regions,
    annotations: { ...annotations, name: text(annotations.name) },
    devices: devices.map(({ events, segments, blocks, opening, ...rest }) => ({
      ...rest,
      events: {
        ...events,
        stack: stacks(events.stack),
        compileContext: text(events.compileContext),
        userMetadata: text(events.userMetadata),
        category: text(events.category),
        forwardFrames: text(events.forwardFrames),
      },
      states: [{ segments, blocks }, opening].map((state) => ({
        ...state,
        segments: state && { ...state.segments, stack: stacks(state.segments.stack) },
        blocks: state && { ...state.blocks, stack: stacks(state.blocks.stack) },
      })),
    })),
  };
}

function expectSame(actual: Snapshot, expected: Snapshot): void {
  expect(differences(contentOf(actual), contentOf(expected))).toEqual([]);
}

const decoded = (snapshot: Snapshot) => decodeSnapshot(encodeSnapshot(snapshot)).snapshot;

const WHOLE = { paths: 'whole', stacks: true } as const;

describe.each(captureNames().filter((name) => !isRepeated(name)))('%s', (name) => {
  const snapshot = loadCapture(name);

  it('round-trips, also if pruned', () => {
    expectSame(decoded(prune(snapshot, WHOLE)), snapshot);
  });

  it('round-trips from a part, too', () => {
    for (const context of contextsOf(snapshot)) {
      const { length } = context.trace.events;
      // The largest one takes ten times as long as all others and shows nothing more.
      if (length > 100_000) continue;
      const part = windowSnapshot(context, { from: Math.floor(length / 2), to: length - 1 });
      const pruned = prune(part, WHOLE);
      expectSame(decoded(pruned), part);
    }
  });

  it('is less than a tenth of the pickle, once in base64', () => {
    const { length } = captureBytes(name);
    // Smaller files have hardly any trace: their names and settings dominate.
    if (length < 100_000) return;
    const packed = gzipSync(encodeSnapshot(prune(snapshot, WHOLE))).length;
    expect((packed * 4) / 3).toBeLessThan(length / 10);
  });
});

it('round-trips without pruning', () => {
  const snapshot = loadCapture('two_devices.pickle.gz');
  expectSame(decoded(snapshot), snapshot);
});

it('names its columns like older reports', () => {
  const [context] = contextsOf(loadCapture('cuda_graph_pool.pickle.gz'));
  const { length } = context.trace.events;
  const part = windowSnapshot(context, { from: Math.floor(length / 2), to: length - 1 });
  const { columns } = readCompactFile(encodeSnapshot(part));
  const state = [
    ...['address', 'totalBytes', 'allocatedBytes', 'activeBytes', 'requestedBytes', 'stream'],
    ...['isSmall', 'pool', 'isExpandable', 'stack', 'firstBlock'],
  ].map((name) => `segments.${name}`);
  const blocks = ['address', 'sizeBytes', 'requestedBytes', 'state', 'stack'];
  state.push(...blocks.map((name) => `blocks.${name}`));
  const events = ['action', 'address', 'sizeBytes', 'stream', 'stack', 'timeUs'];
  expect([...columns.keys()]).toEqual([
    ...['frames.name', 'frames.filename', 'frames.line', 'stacks.frame', 'stacks.parent'],
    ...['isStart', 'name', 'device', 'timeUs'].map((name) => `annotations.${name}`),
    ...events.map((name) => `devices.0.events.${name}`),
    ...state.map((name) => `devices.0.${name}`),
    ...state.map((name) => `devices.0.opening.${name}`),
  ]);
});

describe('data that must not be shared', () => {
  const snapshot = loadCapture('train_annotated.pickle.gz');
  const textOf = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);

  it('is not in the bytes: whole paths', () => {
    const whole = textOf(encodeSnapshot(prune(snapshot, WHOLE)));
    const short = textOf(encodeSnapshot(prune(snapshot, { paths: 'last-two', stacks: true })));
    expect(whole).toContain('/site-packages/');
    expect(short).not.toMatch(/\/[\w.-]+\/[\w.-]+\/[\w.-]+\.py/);
    expect(short).toContain('.py');
  });

  it('is not in the bytes: stacks', () => {
    const without = prune(snapshot, { paths: 'whole', stacks: false });
    expect(textOf(encodeSnapshot(without))).not.toContain('.py');
    const [context] = contextsOf(without);
    const [whole] = contextsOf(snapshot);
    expect(context?.replay.peaks).toEqual(whole?.replay.peaks);
  });
});

it('is refused if it contains an impossible number', () => {
  const snapshot = loadCapture('cuda_graph_pool.pickle.gz');
  const [device] = snapshot.devices;
  const withSize = (size: number) => {
    const sizeBytes = Float64Array.from(device.events.sizeBytes);
    sizeBytes[3] = size;
    return { ...snapshot, devices: [{ ...device, events: { ...device.events, sizeBytes } }] };
  };
  expect(decoded(withSize(512)).devices[0].events.sizeBytes[3]).toBe(512);
  for (const size of [Number.NaN, Infinity, -512, 0.5]) {
    expect(() => decoded(withSize(size))).toThrow(LoadError);
  }
  for (const odd of [
    { device: 9_999_999 },
    { device: 0.5 },
    { pools: [{ id: [0.5, 0] as const }] },
  ]) {
    const devices = [{ ...device, ...odd }];
    expect(() => decoded({ ...snapshot, devices })).toThrow(LoadError);
  }
  expect(() => decoded({ ...snapshot, settings: { a: [[1]] as never } })).toThrow(LoadError);
});

describe('a damaged file', () => {
  const bytes = encodeSnapshot(prune(loadCapture('cuda_graph_pool.pickle.gz'), WHOLE));

  it('is refused in words, or still valid, wherever it is cut or changed', () => {
    const damage = fc.tuple(
      fc.nat(bytes.length - 1),
      fc.integer({ min: 0, max: 255 }),
      fc.boolean(),
    );
    fc.assert(
      fc.property(damage, ([at, value, isCut]) => {
        const damaged = isCut ? bytes.slice(0, at) : bytes.slice();
        if (!isCut) damaged[at] = value;
        try {
          contextsOf(decodeSnapshot(damaged).snapshot);
        } catch (error) {
          expect(error).toBeInstanceOf(LoadError);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('of a newer version says so', () => {
    const newer = bytes.slice();
    newer[10] = 2;
    expect(() => decodeSnapshot(newer)).toThrow(/newer version of vramscope/);
  });
});
