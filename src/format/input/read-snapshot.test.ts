import fc from 'fast-check';
import { gzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { abortError, isAbortError } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { bytesSource, fixture, gunzippedFixture } from '../../testing/byte-source.ts';
import { HOSTILE_FILES, osSystemPickle } from '../../testing/hostile.ts';
import { join, sampleSnapshot, uint32, writePickle } from '../../testing/write-pickle.ts';
import { webPlatform } from '../../worker/byte-source.ts';
import type { Snapshot } from '../snapshot/tables.ts';
import { readSnapshot } from './read-snapshot.ts';
import type { ByteSource, ReadOptions, ReadProgress } from './types.ts';

const open = (bytes: Uint8Array, options?: ReadOptions, chunkBytes?: number) =>
  readSnapshot(bytesSource(bytes, 'test', chunkBytes), webPlatform, options);

/** Everything in a snapshot that must not depend on its container, as plain values. */
function contentOf(snapshot: Snapshot) {
  const { strings, frames, stacks, devices, settings } = snapshot;
  const text = (index: number): string => strings.get(index);
  const stackText = (stack: number): string => {
    if (stack <= 0) return String(stack);
    const frame = stacks.frame[stack];
    const place = `${text(frames.name[frame])}@${text(frames.filename[frame])}:${frames.line[frame]}`;
    return `${place};${stackText(stacks.parent[stack])}`;
  };
  return {
    settings,
    devices: devices.map(({ device, kind, events, segments, blocks }) => ({
      device,
      kind,
      actions: [...events.action],
      addresses: [...events.address],
      sizes: [...events.sizeBytes],
      times: [...(events.timeUs ?? [])],
      stacks: [...events.stack].map(stackText),
      segments: [...segments.address],
      blocks: [...blocks.address].map((address, i) => [
        address,
        blocks.sizeBytes[i],
        blocks.state[i],
      ]),
    })),
  };
}

async function failureOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LoadError)) throw new Error(`Not a LoadError: ${String(error)}`);
  return error.failure;
}

const protocols = gunzippedFixture('protocols.pickle');

describe('readSnapshot', () => {
  it('gives the same content for all protocols and containers of a snapshot', async () => {
    const names = [0, 1, 2, 3, 4, 5].map((protocol) => `protocols_p${protocol}.pickle.gz`);
    const first = await open(fixture('protocols_p4.pickle.gz'));
    for (const name of [...names, 'protocols_trace_plot.html.gz']) {
      const { snapshot, file } = await open(fixture(name));
      expect(file.decoder).toBe('columnar');
      expect(contentOf(snapshot)).toEqual(contentOf(first.snapshot));
    }
    const { file } = await open(fixture('protocols.pickle.zst'));
    expect(file).toMatchObject({
      container: 'zstd',
      name: 'test',
      bytes: 3345,
      partial: undefined,
    });
    expect(first.file).toMatchObject({ container: 'gzip', protocol: 4 });
  });

  it('reads the same dictionary as JSON', async () => {
    const value = sampleSnapshot(4);
    const fromJson = await open(new TextEncoder().encode(JSON.stringify(value)));
    const fromPickle = await open(writePickle(value));
    expect(fromJson.file).toMatchObject({ container: 'json', protocol: undefined });
    expect(contentOf(fromJson.snapshot)).toEqual(contentOf(fromPickle.snapshot));
    expect(fromPickle.snapshot.devices[0].events.length).toBe(13);
  });

  it('gives the same for chunks of any size', async () => {
    const whole = contentOf((await open(protocols)).snapshot);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3000 }), async (size) => {
        expect(contentOf((await open(protocols, {}, size)).snapshot)).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });
});

describe('bad files', () => {
  it.each(HOSTILE_FILES)('$name gives $code', async ({ make, code, hasPartial }) => {
    const failure = await failureOf(open(make()));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^[A-Z(].*[.)]$/);
    expect(failure.partialEvents !== undefined).toBe(hasPartial);
  });

  it.each(HOSTILE_FILES.filter((file) => file.hasPartial))(
    'opens the complete events of $name',
    async ({ make }) => {
      const { partialEvents, message } = await failureOf(open(make()));
      const { snapshot, file } = await open(make(), { allowPartial: true });
      expect(snapshot.devices[0].events.length).toBe(partialEvents);
      expect(file.partial).toBe(message);
      expect(snapshot.warnings.map((warning) => warning.code)).toContain('partial-file');
    },
  );

  it('reports truncation at every cut of a small snapshot', async () => {
    const bytes = writePickle(sampleSnapshot(0));
    for (let length = 1; length < bytes.length; length++) {
      const failure = await failureOf(open(bytes.subarray(0, length)));
      expect(failure.code).toBe('truncated');
      expect(failure.byte).toBe(length);
    }
  });

  it('opens the events before each cut of a real snapshot', async () => {
    const all = contentOf((await open(protocols)).snapshot).devices[0];
    let most = 0;
    for (let length = 1; length < protocols.length; length += 397) {
      const cut = protocols.subarray(0, length);
      const { code, byte, partialEvents } = await failureOf(open(cut));
      expect([code, byte]).toEqual(['truncated', length]);
      if (partialEvents === undefined) continue;
      const partial = contentOf((await open(cut, { allowPartial: true })).snapshot).devices[0];
      expect(partial.addresses).toEqual(all.addresses.slice(0, partialEvents));
      expect(partial.stacks).toEqual(all.stacks.slice(0, partialEvents));
      most = Math.max(most, partialEvents);
    }
    expect(most).toBeGreaterThan(all.actions.length / 2);
  });

  it('opens, or gives a LoadError, whichever bytes of a real snapshot are changed', async () => {
    const originals = ['protocols_p0.pickle', 'protocols_p1.pickle', 'protocols_p4.pickle'].map(
      gunzippedFixture,
    );
    const change = fc.record({
      file: fc.nat(originals.length - 1),
      at: fc.oneof(fc.nat(400), fc.nat(19_000)),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(change, fc.boolean(), async ({ file, at, bytes }, allowPartial) => {
        const changed = originals[file].slice();
        changed.set(bytes, at);
        const result = await open(changed, { allowPartial }).catch((error: unknown) => error);
        const isFine = result instanceof LoadError || !(result instanceof Error);
        expect(isFine, String(result)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('runs nothing, and reads a snapshot next to code', async () => {
    const call = osSystemPickle().subarray(2, -1);
    const sample = writePickle(sampleSnapshot()).subarray(2, -1);
    const bytes = join([0x80, 4], '}(', [0x8c, 4], 'hook', call, [0x8c, 4], 'snap', sample, 'u.');
    const { snapshot, file } = await open(bytes);
    expect(file.decoder).toBe('columnar');
    expect(snapshot.devices[0].events.length).toBe(10);
    const warning = snapshot.warnings.find(({ code }) => code === 'holds-code');
    expect(warning?.message).toContain('os.system; nothing was run');
  });
});

describe('odd but good files', () => {
  const sample = sampleSnapshot();

  it.each([
    ['under a key', writePickle({ rank: 0, memory: { snapshot: sample } })],
    ['in a list', writePickle([1, { payload: sample }])],
    [
      'under a key, in JSON',
      new TextEncoder().encode(JSON.stringify({ rank: 0, snapshot: sample })),
    ],
    [
      'beside other files',
      zipSync({ 'log.txt': join('text'), 's.json.gz': gzipSync(writePickle(sample)) }),
    ],
    ['before a lot of zeros', join(writePickle(sample), new Uint8Array(100_000))],
    ['in an OrderedDict', orderedDict(sample)],
    [
      'beside a __proto__ key',
      writePickle(JSON.parse(`{"__proto__": 1, "s": ${JSON.stringify(sample)}}`)),
    ],
  ])('finds a snapshot %s', async (_name, bytes) => {
    const { snapshot } = await open(bytes);
    expect(contentOf(snapshot)).toEqual(contentOf((await open(writePickle(sample))).snapshot));
  });

  it('says which file of a zip it opened', async () => {
    const zip = zipSync({
      'rank0.pickle': writePickle(sample),
      'rank1.pickle': writePickle(sample),
    });
    const { snapshot } = await open(zip);
    const warning = snapshot.warnings.find(({ code }) => code === 'other-files');
    expect(warning?.message).toBe(
      'Only rank0.pickle of this zip archive was opened; it also holds rank1.pickle.',
    );
  });

  it('stops reading soon after the pickle, however many zeros follow', async () => {
    let served = 0;
    const zeros = new Uint8Array(2 ** 20);
    const source: ByteSource = {
      name: 'bomb',
      size: undefined,
      async *chunks() {
        yield writePickle(sample);
        for (served = 0; served < 10_000; served++) yield zeros;
      },
    };
    expect((await readSnapshot(source, webPlatform)).snapshot.devices).toHaveLength(1);
    expect(served).toBeLessThan(100);
  });

  it('reads numpy integers', async () => {
    const dtype = join('cnumpy\ndtype\n', [0x8c, 2], 'i8', '\x89\x88\x87R');
    const state = join(
      '(K\x03',
      [0x8c, 1],
      '<NNNJ',
      uint32(0xffffffff),
      'J',
      uint32(0xffffffff),
      'K\x00tb',
    );
    const scalar = join(
      'cnumpy.core.multiarray\nscalar\n',
      dtype,
      state,
      'C\x08',
      uint32(512),
      uint32(0),
      '\x86R',
    );
    const { device_traces } = sample;
    const plain = writePickle({ segments: [], device_traces });
    const at = Buffer.from(plain).indexOf(join([0x8a, 8], uint32(512), uint32(0)));
    const bytes = join(plain.subarray(0, at), scalar, plain.subarray(at + 10));
    const { snapshot } = await open(bytes);
    expect(contentOf(snapshot).devices[0].sizes).toEqual(
      contentOf((await open(plain)).snapshot).devices[0].sizes,
    );
  });
});

/** OrderedDict called by REDUCE, then filled, as Python pickles it. */
function orderedDict(value: ReturnType<typeof sampleSnapshot>): Uint8Array {
  const items = writePickle(value).subarray(3, -1);
  return join([0x80, 4], 'ccollections\nOrderedDict\n)R', items, '.');
}

describe('progress and cancelling', () => {
  it('reports bytes and events, but not often', async () => {
    const reports: ReadProgress[] = [];
    const started = Date.now();
    await open(
      gunzippedFixture('leak_loss_graph.pickle'),
      { onProgress: (report) => reports.push(report) },
      4096,
    );
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.length).toBeLessThan(2 + (Date.now() - started) / 50);
    expect(reports.at(-1)?.totalBytes).toBe(2246474);
    for (const { readBytes } of reports) expect(readBytes).toBeLessThanOrEqual(2246474);
  });

  it('stops between chunks when cancelled, and releases the source', async () => {
    let served = 0;
    let isClosed = false;
    const source: ByteSource = {
      name: 'slow',
      size: protocols.length,
      async *chunks() {
        try {
          for (served = 0; served < protocols.length; served += 100) {
            if (served > 9000) throw abortError('Cancelled');
            yield protocols.subarray(served, served + 100);
          }
        } finally {
          isClosed = true;
        }
      },
    };
    const reading = readSnapshot(source, webPlatform);
    await expect(reading).rejects.toSatisfy(isAbortError);
    expect(served).toBeLessThan(9500);
    expect(isClosed).toBe(true);
  });

  it('can be cancelled inside a gzip', async () => {
    const bytes = gzipSync(gunzippedFixture('leak_loss_graph.pickle'));
    const source: ByteSource = {
      name: 'slow',
      size: bytes.length,
      async *chunks() {
        yield bytes.subarray(0, 1000);
        throw abortError('Cancelled');
      },
    };
    await expect(readSnapshot(source, webPlatform)).rejects.toSatisfy(isAbortError);
  });

  it("passes on a source's errors, and explains a folder", async () => {
    const failing = (error: Error): ByteSource => ({
      name: 'runs',
      size: undefined,
      chunks: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
    });
    const folder = Object.assign(new Error('EISDIR: illegal operation'), { code: 'EISDIR' });
    expect((await failureOf(readSnapshot(failing(folder), webPlatform))).code).toBe('folder');
    const gone = new DOMException('gone', 'NotFoundError');
    expect((await failureOf(readSnapshot(failing(gone), webPlatform))).code).toBe('unreadable');
    const abort = new DOMException('stop', 'AbortError');
    await expect(readSnapshot(failing(abort), webPlatform)).rejects.toBe(abort);
  });
});
