/**
 * Reads one file of a job: summarizes a snapshot, or validates a summary. Anyone may have written a summary, so nothing
 * in it is trusted before it is checked.
 */

import { isRecord } from '../../base/collections.ts';
import { LoadError, type LoadFailure } from '../../base/load-error.ts';
import { createDeviceModels } from '../../device/model/device-model.ts';
import { collectBytes } from '../../format/input/byte-cursor.ts';
import { readSnapshot } from '../../format/input/read-snapshot.ts';
import type { ByteSource, Platform } from '../../format/input/types.ts';
import { isSummaryName, rankOfName } from './rank-of-name.ts';
import { summarize } from './summarize.ts';
import { type RankSummary, SUMMARY, SUMMARY_SCHEMA } from './types.ts';

export interface ReadRankOptions {
  readonly version: string;
  readonly allowPartial: boolean;
}

/** Plain data, so it can come from another thread. */
export type ReadRank =
  | { readonly summary: RankSummary }
  | { readonly failure: Pick<LoadFailure, 'code' | 'message'> };

/** No summary is larger; this stops a compressed bomb. */
const MAX_TEXT_BYTES = 2 ** 22;

/**
 * `path` gives the rank, and its extension shows whether the file is a summary. Never rejects because of an unreadable
 * file.
 */
export async function readRankFile(
  path: string,
  open: () => Promise<ByteSource> | ByteSource,
  platform: Platform,
  options: ReadRankOptions,
): Promise<ReadRank> {
  try {
    const source = await open();
    if (isSummaryName(path)) return { summary: readSummary(await textOf(source, platform)) };
    const { version, allowPartial } = options;
    const { snapshot, file } = await readSnapshot(source, platform, { allowPartial });
    const contexts = createDeviceModels(snapshot);
    return { summary: await summarize(file, contexts, { version, rank: rankOfName(path) }) };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { code, message, advice } = error.failure;
    return { failure: { code, message: `${message} ${advice}`.trim() } };
  }
}

async function textOf(source: ByteSource, platform: Platform): Promise<string> {
  const raw = await bytesOf(source.chunks());
  if (raw[0] !== 0x1f || raw[1] !== 0x8b) return new TextDecoder().decode(raw);
  async function* compressed() {
    yield raw;
  }
  try {
    return new TextDecoder().decode(await bytesOf(platform.gunzip(compressed())));
  } catch (error) {
    throw error instanceof LoadError ? error : bad('This summary is cut short or damaged.', '');
  }
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const bytes = await collectBytes(chunks, MAX_TEXT_BYTES);
  if (bytes !== undefined) return bytes;
  throw bad('This is too large to be a summary.', '');
}

const SCHEMA = /^vramscope\.summary\/(\d{1,6})$/;
const OWN_VERSION = Number(SCHEMA.exec(SUMMARY_SCHEMA)?.[1]);

/** @throws LoadError 'newer-summary' or 'bad-summary' */
export function readSummary(text: string): RankSummary {
  const value = parse(text);
  const schema = isRecord(value) ? SCHEMA.exec(String(value.schema)) : null;
  if (schema === null) throw bad('This is not a summary of a snapshot.');
  if (Number(schema[1]) > OWN_VERSION) {
    throw new LoadError({
      code: 'newer-summary',
      message: `This summary was written by a newer vramscope (version ${schema[1]} of the format; this one reads ${OWN_VERSION}).`,
      advice: 'Update vramscope.',
    });
  }
  const [issue] = SUMMARY.safeParse(value).error?.issues ?? [];
  if (issue === undefined) return value as RankSummary;
  throw bad(`This summary is damaged: ${issue.path.join('.')} is not what it should be.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad('This summary is cut short or damaged: it is not valid JSON.');
  }
}

const bad = (message: string, advice = 'Run vramscope summarize again.'): LoadError =>
  new LoadError({ code: 'bad-summary', message, advice });
