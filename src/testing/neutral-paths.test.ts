/** Captures are public, so their paths must not reveal anything about the machine that recorded them. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decompress as decompressZstd } from 'fzstd';
import { expect, it } from 'vitest';

/**
 * Where people and machines keep their own files. A neutral path starts with /workspace, /opt or /usr. One letter may
 * precede a path, because a pickle writes a string's length as a byte.
 */
const MACHINE_PATH = /(?<![\w.-]{2})\/(root|home|tmp|work|mnt|media|data|scratch|Users)\/[\w.-]+/g;

/** PyTorch's HTML wrapper holds the pickle as base64. */
const EMBEDDED = /"base64": "([\w+/=]+)"/g;

const UNPACK: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  '.gz': (bytes) => gunzipSync(bytes),
  '.zst': (bytes) => decompressZstd(bytes),
};

function machinePaths(text: string): readonly string[] {
  const embedded = [...text.matchAll(EMBEDDED)].flatMap(([, base64 = '']) =>
    machinePaths(Buffer.from(base64, 'base64').toString('latin1')),
  );
  return [...new Set([...(text.replace(EMBEDDED, '').match(MACHINE_PATH) ?? []), ...embedded])];
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}

it('finds a path of a machine, plain or wrapped', () => {
  const pickle = '\u008cH/home/ann/train.py\u0094';
  expect(machinePaths(pickle)).toEqual(['/home/ann']);
  const wrapped = `{"base64": "${Buffer.from(pickle, 'latin1').toString('base64')}"}`;
  expect(machinePaths(wrapped)).toEqual(['/home/ann']);
  expect(machinePaths('/workspace/work/tmp/train.py')).toEqual([]);
});

it.each([...filesBelow('fixtures'), ...filesBelow('public')])('%s', (file) => {
  const unpack = UNPACK[extname(file)] ?? ((bytes: Uint8Array) => bytes);
  const text = Buffer.from(unpack(readFileSync(file))).toString('latin1');
  expect(machinePaths(text)).toEqual([]);
});
