import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { ByteSource } from '../format/input/types.ts';
import { blobSource } from './blob-source.ts';
import { webPlatform } from './byte-source.ts';
import { type UrlSourceOptions, urlSource } from './url-source.ts';

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  // A chunk is valid only until the next is requested.
  for await (const chunk of chunks) parts.push(chunk.slice());
  return Buffer.concat(parts);
}

const random = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 7919) >> 3));

describe('a file on disk', () => {
  it.each([
    ['by a BYOB reader', false],
    ['by slices', true],
  ])('gives its bytes in order %s, any number of times', async (_, withoutByob) => {
    const property = fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 70 }),
      async (bytes, slice) => {
        const blob = new Blob([new Uint8Array(bytes)]);
        const source = blobSource(withoutByob ? onlySlices(blob) : blob, 'x', {
          readBytes: slice,
          sliceBytes: slice,
        });
        expect(source.size).toBe(bytes.length);
        for (let time = 0; time < 2; time++) {
          expect(await bytesOf(source.chunks())).toEqual(Buffer.from(bytes));
        }
      },
    );
    await fc.assert(property, { numRuns: 50 });
  });

  it('can be left before its end', async () => {
    for await (const chunk of blobSource(new Blob([random(100)]), 'x', {
      readBytes: 10,
    }).chunks()) {
      expect(chunk).toHaveLength(10);
      break;
    }
  });

  it('recognizes a folder', async () => {
    const folder = unreadableBlob(4096, 0);
    await expect(bytesOf(blobSource(folder, 'runs').chunks())).rejects.toMatchObject({
      failure: { code: 'folder', message: expect.stringContaining('"runs"') },
    });
  });

  it('says where a file vanished while it was read', async () => {
    const vanished = unreadableBlob(40 * 2 ** 20, 8 * 2 ** 20);
    await expect(bytesOf(blobSource(vanished, 'x').chunks())).rejects.toMatchObject({
      failure: { code: 'unreadable', byte: 8 * 2 ** 20 },
    });
  });
});

/** A file whose slices from `from` on cannot be read, with the browser's error. */
function unreadableBlob(size: number, from: number): Blob {
  class UnreadableBlob extends Blob {
    override get size() {
      return size;
    }
    override slice(start = 0) {
      const part = new Blob([new Uint8Array(1)]);
      const fault = new DOMException('The file could not be read', 'NotReadableError');
      if (start >= from) part.arrayBuffer = () => Promise.reject(fault);
      return part;
    }
  }
  return onlySlices(new UnreadableBlob());
}

/** As in a browser whose files have no BYOB reader. */
function onlySlices<T extends Blob>(blob: T): T {
  blob.stream = () => new ReadableStream<Uint8Array<ArrayBuffer>>();
  return blob;
}

/** The blob with a stream that returns `whole` reads of it, and then does what `then` says. */
function blobThat(
  bytes: Buffer,
  whole: number,
  then: (controller: ReadableByteStreamController) => void | Promise<void>,
): Blob {
  const blob = new Blob([new Uint8Array(bytes)]);
  let at = 0;
  let reads = 0;
  blob.stream = () =>
    new ReadableStream({
      type: 'bytes',
      pull(controller) {
        const { byobRequest } = controller;
        const view = byobRequest?.view;
        if (reads++ >= whole || !(view instanceof Uint8Array)) return then(controller);
        view.set(bytes.subarray(at, at + view.length));
        at += view.length;
        byobRequest?.respond(view.length);
        return undefined;
      },
    });
  return blob;
}

describe('a file whose reader fails', () => {
  const bytes = random(1000);
  const never = () => new Promise<void>(() => undefined);

  it.each([0, 1, 4])('continues with slices if a read hangs after %i', async (whole) => {
    const blob = blobThat(bytes, whole, never);
    const source = blobSource(blob, 'x', { readBytes: 100, sliceBytes: 64, stallMs: 20 });
    expect((await bytesOf(source.chunks())).equals(bytes)).toBe(true);
  });

  it('can be abandoned while nothing hangs', async () => {
    const source = blobSource(blobThat(bytes, 2, never), 'x', { readBytes: 100, stallMs: 20 });
    for await (const chunk of source.chunks()) {
      expect(chunk).toHaveLength(100);
      break;
    }
  });

  it('says that a file was changed while it was read', async () => {
    const fault = new DOMException('The file was changed', 'NotReadableError');
    const blob = blobThat(bytes, 3, (controller) => controller.error(fault));
    const source = blobSource(blob, 'run.pickle', { readBytes: 100 });
    await expect(bytesOf(source.chunks())).rejects.toMatchObject({
      failure: { code: 'unreadable', byte: 300, message: expect.stringContaining('was changed') },
    });
  });

  it('says that a file became shorter while it was read', async () => {
    const blob = blobThat(bytes, 3, (controller) => {
      controller.close();
      controller.byobRequest?.respond(0);
    });
    const source = blobSource(blob, 'run.pickle', { readBytes: 100 });
    await expect(bytesOf(source.chunks())).rejects.toMatchObject({
      failure: { code: 'unreadable', byte: 300, message: expect.stringContaining('shorter') },
    });
  });
});

describe('gunzip', () => {
  const plain = random(300_000);
  const packed = gzipSync(plain);
  const split = (bytes: Uint8Array) =>
    blobSource(new Blob([new Uint8Array(bytes)]), 'x', { readBytes: 50_000 }).chunks();

  it('gives the bytes', async () => {
    expect((await bytesOf(webPlatform.gunzip(split(packed)))).equals(plain)).toBe(true);
  });

  it.each([
    ['cut short', packed.subarray(0, packed.length - 20)],
    ['damaged', Buffer.concat([packed.subarray(0, 1000), packed.subarray(1001)])],
    ['empty', Buffer.alloc(0)],
  ])('throws for data that is %s', async (_, broken) => {
    await expect(bytesOf(webPlatform.gunzip(split(broken)))).rejects.toThrow();
  });

  it('passes a fault of the source on as it is', async () => {
    const source = blobSource(unreadableBlob(4096, 0), 'runs').chunks();
    await expect(bytesOf(webPlatform.gunzip(source))).rejects.toMatchObject({
      failure: { code: 'folder' },
    });
  });

  it('can be left before its end', async () => {
    for await (const chunk of webPlatform.gunzip(split(packed))) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
  });
});

describe('a file on a server', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serveFile(answer: RequestListener): Promise<string> {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/runs/a%20b.pickle?x=1`;
  }
  const open = async (url: string, options?: UrlSourceOptions): Promise<[ByteSource, Buffer]> => {
    const source = await urlSource(url, options);
    return [source, await bytesOf(source.chunks())];
  };

  it('gives name, size and bytes, any number of times', async () => {
    const url = await serveFile((_, response) => {
      response.setHeader('content-length', 100_000);
      response.end(random(100_000));
    });
    const [source, bytes] = await open(url);
    expect(source).toMatchObject({ name: 'a b.pickle', size: 100_000 });
    expect(bytes.equals(random(100_000))).toBe(true);
    expect((await bytesOf(source.chunks())).equals(bytes)).toBe(true);
  });

  it('claims no size that the server did not give', async () => {
    const url = await serveFile((_, response) => {
      response.write('abc');
      response.end('def');
    });
    const [source, bytes] = await open(url);
    expect([source.size, bytes.toString()]).toEqual([undefined, 'abcdef']);
  });

  it('does not mistake the size of the encoded body for that of the file', async () => {
    const url = await serveFile((_, response) => {
      const body = gzipSync(random(5000));
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length });
      response.end(body);
    });
    const [source, bytes] = await open(url);
    expect([source.size, bytes.length]).toEqual([undefined, 5000]);
  });

  it('says what the server answered', async () => {
    const url = await serveFile((_, response) => response.writeHead(404).end());
    await expect(open(url)).rejects.toMatchObject({
      failure: { code: 'http-error', message: expect.stringContaining('404 Not Found') },
    });
  });

  it('distinguishes an unreachable server from one blocked by CORS', async () => {
    const url = await serveFile((_, response) => response.end('x'));
    const blocked: typeof fetch = (input, init) =>
      init?.mode === 'no-cors' ? fetch(input) : Promise.reject(new TypeError('Failed to fetch'));
    await expect(open(url, { fetch: blocked })).rejects.toMatchObject({
      failure: { code: 'url-forbidden' },
    });
    await expect(open('http://127.0.0.1:9/x')).rejects.toMatchObject({
      failure: { code: 'url-unreachable' },
    });
  });

  it.each([
    ['before the answer', 0],
    ['in the middle', 1000],
  ])('gives up on a transfer that stalls %s', async (_, sent) => {
    const url = await serveFile((_, response) => {
      if (sent > 0) response.write(random(sent));
    });
    await expect(open(url, { stallMs: 60 })).rejects.toMatchObject({
      failure: { code: 'url-stalled' },
    });
  });

  it('says that a transfer was interrupted', async () => {
    const url = await serveFile((_, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('x', () => response.destroy());
    });
    await expect(open(url)).rejects.toMatchObject({ failure: { code: 'url-broken-off' } });
  });
});
