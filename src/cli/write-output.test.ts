import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeSnapshot, encodeSnapshot } from '../format/snapshot-file/compact-snapshot.ts';
import { fixture } from '../testing/byte-source.ts';
import { loadCapture } from '../testing/captures.ts';
import { cli, QUIET_IO } from '../testing/cli-run.ts';
import { type CliIo, InterruptedError } from './cli-io.ts';
import { runCli } from './run-cli.ts';
import { writeOutput } from './write-output.ts';

let folder = '';
let home = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-output-'));
  home = process.cwd();
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

const SNAPSHOT = fixture('cuda_graph_pool.pickle.gz');
const inFolder = (name: string, bytes: Uint8Array | string): string => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};
const ioWith = (interruption: AbortSignal): CliIo => ({
  ...QUIET_IO,
  interruption: () => interruption,
});
const NEVER = new AbortController().signal;
const csv = (...args: string[]) => cli(['export', ...args, '--as', 'counters-csv']);

describe('an existing file', () => {
  it('is replaced only with --force, and keeps its permissions', async () => {
    const input = inFolder('run.pickle.gz', SNAPSHOT);
    const output = inFolder('out.csv', 'precious');
    chmodSync(output, 0o600);
    const refused = await csv(input, '-o', output);
    expect(refused).toMatchObject({ exitCode: 3, error: expect.stringContaining('--force') });
    expect(readFileSync(output, 'utf8')).toBe('precious');
    expect((await csv(input, '-o', output, '--force')).exitCode).toBe(0);
    expect(readFileSync(output, 'utf8')).toMatch(/^event,/);
    expect(statSync(output).mode & 0o777).toBe(0o600);
  });

  it('is never the input, under any of its names', async () => {
    const input = inFolder('run.pickle.gz', SNAPSHOT);
    const link = join(folder, 'link');
    symlinkSync(input, link);
    for (const output of [input, link, join(folder, '.', 'run.pickle.gz')]) {
      const refused = await csv(input, '-o', output, '--force');
      expect(refused).toMatchObject({
        exitCode: 3,
        error: expect.stringContaining('is the input file'),
      });
    }
    expect(readFileSync(input)).toEqual(Buffer.from(SNAPSHOT));
  });

  it('is not the page that a report is made from', async () => {
    mkdirSync(join(folder, 'page'));
    writeFileSync(join(folder, 'page', 'vramscope.html'), '<meta charset="utf-8">');
    const json = Buffer.from(gunzipSync(SNAPSHOT)).toString('base64');
    const page = inFolder('trace.html', `<!doctype html><script>x=[{"base64": "${json}"}]`);
    process.chdir(folder);
    const refused = await cli(['report', 'trace.html'], undefined, join(folder, 'page'));
    expect(refused).toMatchObject({
      exitCode: 3,
      error: expect.stringContaining('is the input file'),
    });
    expect(readFileSync(page, 'utf8')).toContain(json);
  });
});

it('names its output after the given path, whatever name the file contains', async () => {
  const origin = {
    name: '../../\u001b]0;owned\u0007evil\u202e.pickle',
    bytes: 1,
    container: 'pickle',
    protocol: 4,
    decoder: 'columnar',
    partial: undefined,
  } as const;
  const compact = encodeSnapshot(loadCapture('cuda_graph_pool.pickle.gz'), origin);
  expect(decodeSnapshot(compact).origin?.name).toBe(origin.name);
  inFolder('given.pickle.gz', gzipSync(compact));
  mkdirSync(join(folder, 'deep', 'er'), { recursive: true });
  process.chdir(join(folder, 'deep', 'er'));
  const { exitCode, out } = await csv('../../given.pickle.gz');
  expect([exitCode, out.split(':')[0]]).toEqual([0, 'given.counters.csv']);
  expect(readdirSync('.')).toEqual(['given.counters.csv']);
  expect(readdirSync(folder).sort()).toEqual(['deep', 'given.pickle.gz']);
  const stats = await cli(['stats', '../../given.pickle.gz']);
  expect(stats.out).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
});

describe('an error while a file is written', () => {
  const piecesThen = function* (fault: () => void) {
    yield 'half a';
    fault();
    yield ' file';
  };
  const write = (path: string, fault: () => void, interruption = NEVER) =>
    writeOutput(ioWith(interruption), { path, input: '-', force: true }, piecesThen(fault));

  it('keeps the old file, and leaves no partial new one', async () => {
    const path = inFolder('old.csv', 'old');
    const broken = write(path, () => {
      throw new Error('ENOSPC: no space left on device, write');
    });
    await expect(broken).rejects.toThrow('ENOSPC');
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['old.csv'], 'old']);
  });

  it('and so does Ctrl+C', async () => {
    const path = inFolder('old.csv', 'old');
    const stop = new AbortController();
    await expect(write(path, () => stop.abort(), stop.signal)).rejects.toThrow(InterruptedError);
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['old.csv'], 'old']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGHUP', 129],
    ['SIGTERM', 143],
  ])('the exit code says that %s ended it: %i', async (signal, code) => {
    const input = inFolder('run.pickle.gz', SNAPSHOT);
    const output = join(folder, 'x.csv');
    const args = ['export', input, '--as', 'counters-csv', '-o', output];
    expect((await cli(args, undefined, 'dist', AbortSignal.abort(signal))).exitCode).toBe(code);
    expect(readdirSync(folder)).toEqual(['run.pickle.gz']);
  });
});

it('writes to a device as it is', async () => {
  const input = inFolder('run.pickle.gz', SNAPSHOT);
  expect((await csv(input, '-o', '/dev/null')).exitCode).toBe(0);
  const full = await csv(input, '-o', '/dev/full');
  expect(full).toMatchObject({ exitCode: 3, error: expect.stringContaining('no space') });
});

describe('other kinds of output', () => {
  const pieces = ['a'.repeat(100_000), 'b'.repeat(100_000)];
  const pipe = (): string => {
    const path = join(folder, 'pipe');
    spawnSync('mkfifo', [path]);
    return path;
  };
  const target = (path: string) => ({ path, input: '-', force: true });

  it('a pipe with a late reader gets everything; the system handles Ctrl+C', async () => {
    const path = pipe();
    const io: CliIo = {
      ...QUIET_IO,
      interruption: () => {
        throw new Error('With a handler, a write that waits for a reader could not be ended');
      },
    };
    const written = writeOutput(io, target(path), pieces);
    const reader = spawn('cat', [path]);
    let read = '';
    reader.stdout.on('data', (data) => {
      read += data;
    });
    await written;
    await once(reader, 'close');
    expect(read).toBe(pieces.join(''));
  });

  it('a name of 245 bytes', async () => {
    const path = join(folder, `${'\u96ea'.repeat(80)}.json`);
    expect(Buffer.byteLength(path) - Buffer.byteLength(folder)).toBe(246);
    await writeOutput(ioWith(NEVER), target(path), pieces);
    expect(readFileSync(path, 'utf8')).toBe(pieces.join(''));
  });

  it('removes what a killed program left behind, and nothing else', async () => {
    const path = join(folder, 'out.csv');
    const names = [
      '.out.csv.0123456789ab.tmp',
      '.out.csv.ffffffffffff.tmp',
      '.out.csv.tmp',
      '.x.0123456789ab.tmp',
    ];
    for (const name of names) writeFileSync(join(folder, name), '');
    const hourAgo = Date.now() / 1000 - 3600;
    for (const name of [0, 2, 3].map((i) => names[i] ?? ''))
      utimesSync(join(folder, name), hourAgo, hourAgo);
    await writeOutput(ioWith(NEVER), target(path), pieces);
    expect(names.map((name) => existsSync(join(folder, name)))).toEqual([false, true, true, true]);
  });

  it('is not the file behind stdin', async () => {
    const input = inFolder('in', SNAPSHOT);
    let error = '';
    const io: CliIo = {
      ...QUIET_IO,
      stdinFile: () => statSync(input),
      writeError: (text) => {
        error += text;
      },
    };
    const exitCode = await runCli(['summarize', '-', '-o', input, '--force'], io, '9.9.9');
    expect([exitCode, error]).toEqual([3, expect.stringContaining('is the input file')]);
    expect(readFileSync(input)).toEqual(Buffer.from(SNAPSHOT));
  });
});
