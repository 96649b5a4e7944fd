import { deflateRawSync, gzipSync as nodeGzipSync } from 'node:zlib';
import fc from 'fast-check';
import { gzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { bytesSource, fixture, gunzippedFixture } from '../../testing/byte-source.ts';
import { traceplotHtml } from '../../testing/hostile.ts';
import { join, uint32 } from '../../testing/write-pickle.ts';
import { webPlatform } from '../../worker/byte-source.ts';
import { collectBytes, type OpenBytes } from './byte-cursor.ts';
import { unwrap } from './unwrap.ts';

const pickle = gunzippedFixture('protocols.pickle');
const padded = (count: number): Uint8Array => join(pickle, new Uint8Array(count));

async function contentOf(bytes: Uint8Array, chunkBytes = 1 << 16) {
  const source = bytesSource(bytes, 'test', chunkBytes);
  const read = async (_kind: string, open: OpenBytes) => {
    const first = await collectBytes(open(), 2 ** 24);
    const again = await collectBytes(open(), 2 ** 24);
    expect(Buffer.compare(first ?? pickle, again ?? pickle)).toBe(0);
    return first;
  };
  return unwrap(webPlatform, () => source.chunks(), read);
}

/** A zstd frame of stored blocks, see RFC 8878, section 3.1.1. */
function storedZstd(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 5000) {
    const block = bytes.subarray(at, at + 5000);
    const isLast = at + 5000 >= bytes.length ? 1 : 0;
    blocks.push(join(uint32((block.length << 3) | isLast).slice(0, 3), block));
  }
  return join([0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3], ...blocks);
}

/** As written to a pipe: sizes after the data, and all numbers of the directory in 64 bits. */
function streamedZip64(name: string, bytes: Uint8Array): Uint8Array {
  const data = deflateRawSync(bytes);
  const crc = nodeGzipSync(bytes).subarray(-8, -4);
  const wide = (value: number): number[] => [...uint32(value), ...uint32(0)];
  const versionToDate = [45, 0, 8, 0, 8, 0, 0, 0, 33, 0];
  const nameLength = [name.length, 0];
  const none32 = uint32(0xffffffff);
  const local = join(
    'PK\x03\x04',
    versionToDate,
    uint32(0),
    uint32(0),
    uint32(0),
    nameLength,
    [0, 0],
    name,
  );
  const descriptor = join('PK\x07\x08', crc, wide(data.length), wide(bytes.length));
  const extra = join([1, 0, 24, 0], wide(bytes.length), wide(data.length), wide(0));
  const directory = join(
    join('PK\x01\x02', [45, 0], versionToDate, crc, none32, none32, nameLength, [extra.length, 0]),
    join([0, 0, 0, 0, 0, 0], uint32(0), none32, name, extra),
  );
  const at = local.length + data.length + descriptor.length;
  const record = join(
    join('PK\x06\x06', wide(44), [45, 0, 45, 0], uint32(0), uint32(0)),
    join(wide(1), wide(1), wide(directory.length), wide(at)),
  );
  const locator = join('PK\x06\x07', uint32(0), wide(at + directory.length), uint32(1));
  const end = join('PK\x05\x06', [0, 0, 0, 0, 255, 255, 255, 255], none32, none32, [0, 0]);
  return join(local, data, descriptor, directory, record, locator, end);
}

const CONTAINERS: readonly (readonly [string, string, Uint8Array, Uint8Array])[] = [
  ['pickle', 'pickle', pickle, pickle],
  ['gzip', 'gzip', gzipSync(pickle), pickle],
  [
    'two gzip members',
    'gzip',
    join(gzipSync(pickle.subarray(0, 9000)), gzipSync(pickle.subarray(9000))),
    pickle,
  ],
  ['gzip in gzip', 'gzip', gzipSync(gzipSync(pickle)), pickle],
  ['zip, deflated', 'zip', zipSync({ 'snapshot.pickle': pickle }), pickle],
  ['zip, stored', 'zip', zipSync({ 'snapshot.pickle': [pickle, { level: 0 }] }), pickle],
  ['gzip in zip', 'zip', zipSync({ 'run/s.pickle.gz': gzipSync(pickle) }), pickle],
  [
    'zip with other files',
    'zip',
    zipSync({
      '__MACOSX/._s.pickle': join([0, 5, 22, 7]),
      'readme.txt': join('see the snapshot'),
      'plot.png': join([0x89], 'PNG'),
      's.pickle': pickle,
      'z.txt': join('after'),
    }),
    pickle,
  ],
  ['zstd, stored', 'zstd', storedZstd(pickle), pickle],
  [
    'zstd, two frames and a skippable one',
    'zstd',
    join(
      storedZstd(pickle.subarray(0, 7000)),
      [0x50, 0x2a, 0x4d, 0x18],
      uint32(3),
      'abc',
      storedZstd(pickle.subarray(7000)),
    ),
    pickle,
  ],
  ['zstd by the zstd program', 'zstd', fixture('protocols.pickle.zst'), pickle],
  ['HTML', 'html', traceplotHtml(pickle, 1), padded(1)],
  ['HTML with three NULs', 'html', traceplotHtml(pickle, 3), padded(3)],
  ['HTML in gzip', 'gzip', gzipSync(traceplotHtml(pickle, 2)), padded(2)],
  ['JSON', 'json', join('{"segments": []}'), join('{"segments": []}')],
  [
    'JSON with a byte order mark',
    'json',
    join([0xef, 0xbb, 0xbf], ' []'),
    join([0xef, 0xbb, 0xbf], ' []'),
  ],
];

describe('unwrap', () => {
  it.each(CONTAINERS)('opens %s', async (_name, container, bytes, content) => {
    const unwrapped = await contentOf(bytes);
    expect(unwrapped.container).toBe(container);
    expect(Buffer.compare(unwrapped.payload ?? join(), content)).toBe(0);
  });

  it('gives the same bytes for chunks of any size', async () => {
    const cases = fc.record({
      index: fc.nat(CONTAINERS.length - 1),
      size: fc.integer({ min: 1, max: 4000 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ index, size }) => {
        const [, , bytes, content] = CONTAINERS[index];
        const { payload } = await contentOf(bytes, size);
        expect(Buffer.compare(payload ?? join(), content)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('reads a zip whose local headers lack sizes, and whose directory is zip64', async () => {
    const { payload } = await contentOf(streamedZip64('s.pickle', pickle));
    expect(Buffer.compare(payload ?? join(), pickle)).toBe(0);
  });

  it('reports a zip entry whose checksum is wrong', async () => {
    const zip = zipSync({ 's.pickle': pickle });
    const directory = Buffer.from(zip).lastIndexOf('PK\x01\x02', undefined, 'latin1');
    zip[directory + 16] ^= 1;
    await expect(contentOf(zip)).rejects.toMatchObject({ failure: { code: 'zip-damaged' } });
  });

  it('reports truncation at every cut of a container', async () => {
    const files = CONTAINERS.filter(([name]) => /gzip|zip|zstd|HTML/.test(name));
    const part = fc.double({ min: 0, max: 0.99, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.nat(files.length - 1), part, async (index, share) => {
        const [name, , bytes] = files[index];
        // Of two parts, the first alone is a complete file: those are cut in the second.
        const from = bytes.length * (/two/.test(name) ? 0.5 : 0.1);
        const cut = bytes.subarray(0, Math.floor(from + share * (bytes.length - from)));
        await expect(contentOf(cut)).rejects.toMatchObject({ failure: { code: 'truncated' } });
      }),
      { numRuns: 60 },
    );
  });

  it('reports truncation at every cut in a second gzip member', async () => {
    const first = gzipSync(pickle.subarray(0, 9000));
    const bytes = join(first, gzipSync(pickle.subarray(9000)));
    for (let at = first.length + 1; at < bytes.length; at += 9) {
      const opened = contentOf(bytes.subarray(0, at));
      await expect(opened, `${at}`).rejects.toMatchObject({ failure: { code: 'truncated' } });
    }
  });
});
