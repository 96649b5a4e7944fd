import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { fileSource, nodePlatform, streamSource } from './byte-sources.ts';
import { type HostProcess, processIo } from './cli-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'vramscope-streams-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Copies each chunk as it arrives: it is valid only until the next. */
async function copiesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const copies: Uint8Array[] = [];
  for await (const chunk of chunks) copies.push(new Uint8Array(chunk));
  return copies;
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(Buffer.concat(await copiesOf(chunks)));
}

async function* pieces(...all: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all;
}

describe('a file', () => {
  // No two chunks are the same.
  const content = Uint8Array.from({ length: 9_000_001 }, (_, i) => ((i * 31) >>> 3) + (i >>> 20));
  const path = join(folder, 'big');
  writeFileSync(path, content);

  test('can be read completely, in pieces, any number of times', async () => {
    const source = await fileSource(path);
    expect(source).toMatchObject({ name: 'big', size: content.length });
    const chunks = await copiesOf(source.chunks());
    expect(chunks.length).toBe(3);
    for (const read of [Buffer.concat(chunks), await bytesOf(source.chunks())]) {
      expect(Buffer.compare(read, content)).toBe(0);
    }
  });

  test('can be abandoned in the middle', async () => {
    const source = await fileSource(path);
    for await (const chunk of source.chunks()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await bytesOf(source.chunks())).length).toBe(content.length);
  });
});

test('a named pipe is read once, but can be read again from memory', async () => {
  const path = join(folder, 'pipe');
  spawnSync('mkfifo', [path]);
  const content = Uint8Array.from({ length: 300_000 }, (_, i) => i >>> 9);
  // More than a pipe holds, so it is written while it is read.
  const writing = writeFile(path, content);
  const source = await fileSource(path);
  expect(source).toMatchObject({ name: 'pipe', size: undefined });
  for (let i = 0; i < 2; i++) {
    expect(Buffer.compare(await bytesOf(source.chunks()), content)).toBe(0);
  }
  await writing;
});

describe('a stream', () => {
  const [a, b, c] = [Uint8Array.of(1, 2), Uint8Array.of(3), Uint8Array.of(4, 5, 6)];

  test('can be read again if it is short', async () => {
    const source = streamSource('stdin', pieces(a, b, c), 6);
    for await (const chunk of source.chunks()) if (chunk === b) break;
    expect(await bytesOf(source.chunks())).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6));
    expect(await bytesOf(source.chunks())).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6));
  });

  test('can be read once if it is long, and then says why not again', async () => {
    const source = streamSource('stdin', pieces(a, b, c), 2);
    expect(await bytesOf(source.chunks())).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6));
    await expect(bytesOf(source.chunks())).rejects.toMatchObject({
      failure: { code: 'read-once', advice: 'Save it to a file first.' },
    });
  });
});

describe('gunzip', () => {
  const text = new TextEncoder().encode('memory '.repeat(10_000));
  const packed = new Uint8Array(gzipSync(text));

  test('inflates', async () => {
    const half = packed.length >> 1;
    const chunks = pieces(packed.subarray(0, half), packed.subarray(half));
    expect(await bytesOf(nodePlatform.gunzip(chunks))).toEqual(text);
  });

  test('throws where the data breaks off', async () => {
    const chunks = pieces(packed.subarray(0, packed.length - 12));
    await expect(bytesOf(nodePlatform.gunzip(chunks))).rejects.toThrow(/unexpected end/);
  });

  test("passes the source's own failure on unchanged", async () => {
    const failure = new Error('the disk is gone');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield packed.subarray(0, 10);
      throw failure;
    }
    await expect(bytesOf(nodePlatform.gunzip(failing()))).rejects.toBe(failure);
  });
});

describe('output', () => {
  /** A process that writes to `stdout` and never gets a signal. */
  const ioOf = (stdout: ReturnType<typeof sink>, env: Record<string, string> = {}) => {
    const host = { stdin: pieces(), stdout, stderr: sink(), env, platform: 'linux' };
    return processIo(host as unknown as HostProcess, '/no/page', '/no/script');
  };

  function sink(properties: { isTTY?: boolean; columns?: number } = {}, error?: Error) {
    let text = '';
    const stream = new Writable({
      write(chunk, _, done) {
        text += chunk;
        done(error);
      },
    });
    return Object.assign(stream, properties, { text: () => text });
  }

  test('into a closed pipe ends quietly', async () => {
    const stdout = sink({}, Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    const io = ioOf(stdout);
    io.writeOut('first');
    await new Promise((resolve) => stdout.on('close', resolve));
    io.writeOut('second');
    expect(stdout.text()).toBe('first');
  });

  test('into a full disk ends in one line and exit code 3', async () => {
    const stdout = sink({}, Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }));
    const stderr = sink();
    const host = { stdin: pieces(), stdout, stderr, env: {}, platform: 'linux' } as const;
    const process = { ...host, once: () => undefined, exitCode: undefined as number | undefined };
    const io = processIo(process as unknown as HostProcess, '/no/page', '/no/script');
    io.writeOut('first');
    await new Promise((resolve) => stdout.on('close', resolve));
    io.writeOut('second');
    expect(stderr.text()).toBe('vramscope: The output cannot be written: ENOSPC: no space left.\n');
    expect(process.exitCode).toBe(3);
  });

  test('is colored only on a terminal, unless NO_COLOR is set', () => {
    const colorOf = (isTTY: boolean, env: Record<string, string>) =>
      ioOf(sink({ isTTY }), env).color;
    expect(colorOf(true, {})).toBe(true);
    expect(colorOf(true, { NO_COLOR: '' })).toBe(true);
    expect(colorOf(true, { NO_COLOR: '1' })).toBe(false);
    expect(colorOf(true, { TERM: 'dumb' })).toBe(false);
    expect(colorOf(false, {})).toBe(false);
  });

  test('is 80 columns wide, and up to 120 where the terminal is', () => {
    const columnsOf = (columns: number | undefined) => {
      const stdout = sink(columns === undefined ? {} : { columns });
      return ioOf(stdout).columns;
    };
    expect([undefined, 40, 100, 300].map(columnsOf)).toEqual([80, 80, 100, 120]);
  });
});
