import { gzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { bytesSource, gunzippedFixture } from '../../testing/byte-source.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { webPlatform } from '../../worker/byte-source.ts';
import { encodeSnapshot } from '../snapshot-file/compact-snapshot.ts';
import { readSnapshot } from './read-snapshot.ts';

const open = (bytes: Uint8Array) => readSnapshot(bytesSource(bytes, 'report'), webPlatform);
const original = await open(gunzippedFixture('two_devices.pickle'));
const compact = encodeSnapshot(original.snapshot, original.file);

describe('a compact snapshot', () => {
  it.each([
    ['bare', compact],
    ['gzipped', gzipSync(compact)],
  ])('opens as the file that it was made from, %s', async (_, bytes) => {
    const { snapshot, file } = await open(bytes);
    expect(file).toEqual(original.file);
    const peaks = contextsOf(snapshot).map(({ replay }) => replay.peaks);
    expect(peaks).toEqual(contextsOf(original.snapshot).map(({ replay }) => replay.peaks));
  });

  it('is refused if truncated, with the byte', async () => {
    await expect(open(compact.subarray(0, compact.length - 100))).rejects.toMatchObject({
      failure: { code: 'compact-damaged', byte: compact.length - 100 },
    });
  });
});
