/**
 * Programs by other people, with a fault in one line or none: cause, bytes and line, and the allocator's counters.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fileName } from '../../base/file-names.ts';
import { formatBytes } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';

const FOLDER = 'others';
const NAMES = readdirSync(`fixtures/${FOLDER}`)
  .filter((name) => name.endsWith('.pickle.gz'))
  .map((name) => name.replace('.pickle.gz', ''));
const GIB = 2 ** 30;
/** How much a program's figures may differ from the memory that fixing its fault gave back. */
const TOLERANCE = 0.1;

interface Truth {
  readonly stats: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly verdict: {
    readonly cause: readonly string[];
    readonly bytes_gib?: readonly [number, number];
    readonly file?: string;
    /** Lines, or the first and the last of a range. */
    readonly lines?: readonly number[];
    readonly also?: Readonly<Record<string, readonly number[]>>;
  };
}

const truthOf = (name: string): Truth =>
  JSON.parse(readFileSync(`fixtures/${FOLDER}/${name}.truth.json`, 'utf8'));

const contextOf = (name: string): DeviceModel =>
  contextsOf(loadCapture(`${FOLDER}/${name}.pickle.gz`)).reduce((a, b) =>
    b.replay.peaks.allocatedBytes.bytes > a.replay.peaks.allocatedBytes.bytes ? b : a,
  );

function isOfTruth({ verdict }: Truth, file: string, line: number): boolean {
  const { lines = [], also = {} } = verdict;
  if (also[file]?.includes(line) === true) return true;
  if (file !== verdict.file) return false;
  const [first = 0, last = 0] = lines;
  return lines.includes(line) || (lines.length === 2 && line >= first && line <= last);
}

const isHealthy = (name: string): boolean => truthOf(name).verdict.cause.includes('none');

describe('a fault', () => {
  it.each(NAMES.filter((name) => !isHealthy(name)))('%s', async (name) => {
    const truth = truthOf(name);
    const { verdict } = await analysisOf(contextOf(name));
    const [low = 0, high = 0] = truth.verdict.bytes_gib ?? [];
    expect(truth.verdict.cause).toContain(verdict.cause);
    expect(verdict.bytes / GIB).toBeGreaterThan(low * (1 - TOLERANCE));
    expect(verdict.bytes / GIB).toBeLessThan(high * (1 + TOLERANCE));
    const own = verdict.lines.map(({ filename, line }) => [fileName(filename), line] as const);
    expect(own.filter(([file, line]) => isOfTruth(truth, file, line))).not.toEqual([]);
    expect(verdict.severity).not.toBe('low');
  });
});

it('says what the rest of a run needs if only its first step needed the peak', async () => {
  const context = contextOf('dcgan_healthy');
  const { verdict, steps } = await analysisOf(context);
  const [, second = 0] = steps?.events ?? [];
  let later = 0;
  for (let event = second; event < context.trace.events.length; event++)
    later = Math.max(later, context.replay.countersAt(event).allocatedBytes);
  expect(verdict.also).toContain(
    `Only the first step needed that much: after it, at most ${formatBytes(later)} was in use.`,
  );
});

/** docs/gallery.md: the picture of a capture, and below it the page's sentence, with `<` escaped. */
const GALLERY = [
  ...readFileSync('docs/gallery.md', 'utf8').matchAll(/gallery\/(\w+)-light\.png[\s\S]*?\n> (.*)/g),
].map(([, name, sentence]) => [name, sentence.replaceAll('\\<', '<')] as const);

describe('the gallery', () => {
  it('has ten cases', () => expect(GALLERY).toHaveLength(10));

  it.each(GALLERY)('says of %s what the page says', async (name, sentence) => {
    const { brief, lines, does } = (await analysisOf(contextOf(name))).verdict;
    expect(`${brief} ${frameLabel(lines[0])} ${does}`).toBe(sentence);
  });
});

describe('a healthy run', () => {
  it.each(NAMES.filter(isHealthy))('%s raises no alarm', async (name) => {
    const { verdict } = await analysisOf(contextOf(name));
    expect(['none', 'low']).toContain(verdict.severity);
  });
});

describe('the counters', () => {
  it.each(NAMES)('of %s are those of the allocator', (name) => {
    const { replay, trace } = contextOf(name);
    const stats = truthOf(name).stats[trace.device] ?? {};
    for (const counter of ['requested', 'allocated', 'active', 'reserved'] as const) {
      expect([counter, replay.end[`${counter}Bytes`]]).toEqual([
        counter,
        stats[`${counter}_bytes.all.current`],
      ]);
      if (replay.recording !== 'complete') continue;
      expect([counter, replay.peaks[`${counter}Bytes`].bytes]).toEqual([
        counter,
        stats[`${counter}_bytes.all.peak`],
      ]);
    }
  });
});
