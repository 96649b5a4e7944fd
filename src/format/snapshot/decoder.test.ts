import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allCaptureNames,
  captureBytes,
  isRepeated,
  loadCapture,
  truthOf,
} from '../../testing/captures.ts';
import { differences } from '../../testing/differences.ts';
import { unpickle } from '../../testing/unpickle.ts';
import { SnapshotDecoder } from './decoder.ts';
import { snapshotFromValue } from './from-value.ts';
import type { Snapshot } from './tables.ts';

// Files written by the Python package have no truth file beside them.
const captures = allCaptureNames().filter((name) => !name.startsWith('record/'));

function decode(bytes: Uint8Array, chunkSizes: readonly number[]): Snapshot {
  const decoder = new SnapshotDecoder();
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = chunkSizes[i % chunkSizes.length];
    decoder.push(bytes.subarray(at, at + size));
    at += size;
  }
  return decoder.finish();
}

/** A snapshot with every index resolved, to compare decoders that number things differently. */
function resolved(snapshot: Snapshot) {
  const { strings, frames, stacks } = snapshot;
  const stackTexts: string[] = [''];
  for (let i = 1; i < stacks.length; i++) {
    const frame = stacks.frame[i];
    const text = `${strings.get(frames.name[frame])} ${strings.get(frames.filename[frame])}:${frames.line[frame]}`;
    stackTexts.push(`${text}\n${stackTexts[stacks.parent[i]]}`);
  }
  const stackOf = (stack: number) => (stack < 0 ? 'none' : stackTexts[stack]);
  return {
    settings: snapshot.settings,
    warnings: snapshot.warnings,
    annotations: {
      ...snapshot.annotations,
      name: Array.from(snapshot.annotations.name, (name) => strings.get(name)),
    },
    devices: snapshot.devices.map((device) => ({
      ...device,
      events: {
        ...device.events,
        stack: Array.from(device.events.stack, stackOf),
        stream: Array.from(device.events.stream, (s) => device.streams[s].handle),
        compileContext: textsOf(device.events.compileContext, strings.get.bind(strings)),
      },
      segments: { ...device.segments, stack: Array.from(device.segments.stack, stackOf) },
      blocks: { ...device.blocks, stack: Array.from(device.blocks.stack, stackOf) },
    })),
  };
}

const textsOf = (column: Int32Array | undefined, get: (row: number) => string) =>
  column === undefined ? undefined : Array.from(column, (row) => (row < 0 ? undefined : get(row)));

describe('decoding', () => {
  it.each(captures)('%s: the counts equal the allocator’s', (name) => {
    const snapshot = loadCapture(name);
    const truth = truthOf(name);
    // These were written before their truth was read: without a trace, inside an OOM, mid-run. The truth of a rank in
    // fleet/ is memory_stats() alone, without counts.
    if (!/legacy_segments_list|oom_observer|protocols_p|^fleet/.test(name)) {
      const counts = snapshot.devices.map((device) => device.events.length);
      // The truth was read after the dump, which is itself a `snapshot` event (except for the first one).
      counts.forEach((count, i) => {
        expect([0, 1]).toContain(truth.events[i] - count);
      });
      const segments = snapshot.devices.reduce((sum, device) => sum + device.segments.length, 0);
      expect(segments).toBe(truth.segments);
    }
    for (const { segments, blocks } of snapshot.devices) {
      // Blocks fill their segment without gaps.
      for (let s = 0; s < segments.length; s++) {
        const rows = blocks.sizeBytes.subarray(segments.firstBlock[s], segments.firstBlock[s + 1]);
        expect(rows.reduce((sum, size) => sum + size, 0)).toBe(segments.totalBytes[s]);
      }
    }
  });

  // The largest captures, programs that exist again under other settings, and repetitions show nothing more.
  it.each(
    captures.filter(
      (name) =>
        !isRepeated(name) &&
        !/leak_slow|frag_gpt|near-miss|leak_loss_scalar|kv_cache|rank[123]|stacks.leak/.test(name),
    ),
  )('%s: pickleparser gives the same tables', (name) => {
    const plain = snapshotFromValue(unpickle(captureBytes(name)));
    expect(differences(resolved(plain), resolved(loadCapture(name)))).toEqual([]);
  });

  it('gives the same tables for every protocol', () => {
    const expected = resolved(loadCapture('protocols_p4.pickle.gz'));
    for (const protocol of [0, 1, 2, 3, 5]) {
      const other = resolved(loadCapture(`protocols_p${protocol}.pickle.gz`));
      expect(differences(other, expected)).toEqual([]);
    }
  });

  it.each([0, 2, 4])('does not depend on where the bytes of protocol %d are split', (protocol) => {
    const name = `protocols_p${protocol}.pickle.gz`;
    const bytes = captureBytes(name);
    const expected = resolved(loadCapture(name));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1 }), (sizes) => {
        expect(differences(resolved(decode(bytes, sizes)), expected)).toEqual([]);
      }),
      { numRuns: 15 },
    );
    expect(differences(resolved(decode(bytes, [1])), expected)).toEqual([]);
  });
});
