import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { fixture } from '../testing/byte-source.ts';
import { cli, QUIET_IO } from '../testing/cli-run.ts';
import { runCli } from './run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'vramscope-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const SNAPSHOT = gunzipSync(fixture('two_devices.pickle.gz'));

describe('exit code 2, one line on stderr', () => {
  test.each([
    [['analyse'], "unknown command 'analyse'"],
    [['stat'], "unknown command 'stat' and no file with that name (Did you mean stats?)"],
    [['stats'], "missing required argument 'file'"],
    [['stats', 'a', 'b'], 'too many arguments'],
    [['stats', '--jsn', 'a'], "unknown option '--jsn' (Did you mean --json?)"],
    [['--what'], "unknown option '--what'"],
  ])('%j', async (args, message) => {
    const { exitCode, out, error } = await cli(args);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain(`vramscope: ${message}`);
    expect(error).toMatch(/^[^\n]+\n$/);
  });

  test('no command at all shows the help without a screen', async () => {
    const { exitCode, out, error } = await cli([]);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(error).toContain('Usage: vramscope');
  });
});

test('no command at all serves the page with a screen', async () => {
  let out = '';
  fileWith('index.html', '');
  const io = {
    ...QUIET_IO,
    pageFolder: folder,
    desktop: { platform: 'linux', env: { DISPLAY: ':0' } },
    writeOut: (text: string) => {
      out += text;
    },
    interruption: () => AbortSignal.abort(),
  } as const;
  expect(await runCli(['--no-open', '--port', '0'], io, '9.9.9')).toBe(0);
  expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/\n/);
});

describe('exit code 3, one line on stderr', () => {
  test.each([
    ['no file', () => join(folder, 'nope.pickle'), /No such file: .*nope\.pickle\./],
    ['a path through a file', () => join(fileWith('a.txt', 'x'), 'b'), /No such file: /],
    ['a folder', () => folder, /is a folder, not a snapshot\. Name one of the files/],
    ['an empty file', () => fileWith('empty', ''), /empty/],
    ['a text', () => fileWith('notes.pickle', 'to do: rent a GPU'), /text.* not a memory snapshot/],
    ['a file cut short', () => fileWith('cut.pickle', SNAPSHOT.subarray(0, 9000)), /\(byte 9000\)/],
  ])('%s', async (_, path, message) => {
    const { exitCode, out, error } = await cli(['stats', path()]);
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: '' });
    expect(error).toMatch(message);
    expect(error).toMatch(/^vramscope: [^\n]+\n$/);
  });

  test('a hostile name cannot steer the terminal', async () => {
    const { error } = await cli(['stats', join(folder, '\u001b[2J\nx')]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(error).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(error.split('\n')).toHaveLength(2);
  });
});

test('the readable part of a broken file is available, marked as partial', async () => {
  const path = fileWith('broken.pickle', SNAPSHOT.subarray(0, 30_000));
  const { error } = await cli(['stats', path]);
  const promised = /--partial to read the ([\d,]+) complete events/
    .exec(error)?.[1]
    .replace(',', '');
  const { exitCode, out } = await cli(['stats', path, '--partial', '--json']);
  expect(exitCode).toBe(0);
  const { devices, warnings } = JSON.parse(out);
  const events = devices.map((device: { events: number }) => device.events);
  expect(events.reduce((sum: number, count: number) => sum + count, 0)).toBe(Number(promised));
  expect(warnings[0].code).toBe('partial-file');
});

test('stdin gives the same as the file', async () => {
  const [piped, gzipped] = await Promise.all([
    cli(['stats', '-', '--json'], SNAPSHOT),
    cli(['stats', '-', '--json'], fixture('two_devices.pickle.gz')),
  ]);
  const file = await cli(['stats', fileWith('two.pickle', SNAPSHOT), '--json']);
  const { devices } = JSON.parse(file.out);
  expect(devices).toHaveLength(2);
  expect(JSON.parse(piped.out).devices).toEqual(devices);
  expect(JSON.parse(gzipped.out).devices).toEqual(devices);
  expect(JSON.parse(piped.out).file).toMatchObject({ name: 'stdin', bytes: SNAPSHOT.length });
  expect((await cli(['stats', '-'])).exitCode).toBe(3);
});

test('help and version are not failures', async () => {
  expect(await cli(['--version'])).toEqual({ exitCode: 0, out: '9.9.9\n', error: '' });
  const help = await cli(['stats', '--help']);
  expect(help).toMatchObject({ exitCode: 0, error: '' });
  expect(help.out).toContain('vramscope stats snapshot.pickle.gz --json');
  expect((await cli(['--help'])).out).toContain('Exit codes');
});
