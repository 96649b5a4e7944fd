/** One file of a job, whatever it holds: a snapshot is summarized, a summary is checked. */

import { replayDevice } from '../../allocator/replay/replay.ts';
import { LoadError, type LoadFailure } from '../../base/load-error.ts';
import { createDeviceContexts } from '../../device/model/device-model.ts';
import { collectBytes } from '../../format/input/byte-cursor.ts';
import { readSnapshot } from '../../format/input/read-snapshot.ts';
import type { ByteSource, Platform } from '../../format/input/types.ts';
import { isSummaryName, rankOfName } from './rank-of-name.ts';
import { readSummary } from './read-summary.ts';
import { summarize } from './summarize.ts';
import type { RankSummary } from './types.ts';

export interface ReadRankOptions {
  /** Of vramscope. */
  readonly version: string;
  readonly allowPartial: boolean;
}

/** Plain data, so that it can come from another thread. */
export type ReadRank =
  | { readonly summary: RankSummary }
  | { readonly failure: Pick<LoadFailure, 'code' | 'message'> };

/** More is no summary; a compressed bomb ends here. */
const MAX_TEXT_BYTES = 2 ** 22;

/**
 * `path`: says the rank, and by its extension whether the file is a summary. Does not reject for a file
 * that cannot be read.
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
    const replays = snapshot.devices.map((trace) => replayDevice(trace, snapshot.settings));
    const contexts = createDeviceContexts(snapshot, replays);
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
    throw error instanceof LoadError ? error : bad('This summary is cut short or damaged.');
  }
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const bytes = await collectBytes(chunks, MAX_TEXT_BYTES);
  if (bytes !== undefined) return bytes;
  throw bad('This is too large to be a summary.');
}

const bad = (message: string): LoadError => new LoadError({ code: 'bad-summary', message });
