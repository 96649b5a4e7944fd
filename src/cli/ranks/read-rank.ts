/** One file of a job, read to its summary: in this thread, or in a worker. */
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { LoadError } from '../../core/base/load-error.ts';
import { createDeviceContexts } from '../../core/device/device-context.ts';
import { readSnapshot } from '../../core/input/read-snapshot.ts';
import type { UnreadFile } from '../../core/ranks/job-files.ts';
import { replayDevice } from '../../core/replay/replay.ts';
import { isSummaryName, rankOfName } from '../../core/summary-file/rank-of-name.ts';
import { readSummary } from '../../core/summary-file/read-summary.ts';
import { summarize } from '../../core/summary-file/summarize.ts';
import type { RankSummary } from '../../core/summary-file/types.ts';
import { fileSource } from '../file-source.ts';
import { nodePlatform } from '../node-platform.ts';

export interface ReadRankOptions {
  readonly version: string;
  readonly allowPartial: boolean;
}

/** Plain data, so that it can come from another thread. */
export type ReadRank =
  | { readonly summary: RankSummary }
  | { readonly failure: UnreadFile['failure'] };

/** Never throws for a file that cannot be read. */
export async function readRank(path: string, options: ReadRankOptions): Promise<ReadRank> {
  try {
    return { summary: await summaryOf(path, options) };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { code, message, advice } = error.failure;
    return { failure: { code, message: `${message} ${advice}`.trim() } };
  }
}

async function summaryOf(path: string, { version, allowPartial }: ReadRankOptions) {
  if (isSummaryName(path)) return readSummary(await textOf(path));
  const { snapshot, file } = await readSnapshot(await fileSource(path), nodePlatform, {
    allowPartial,
  });
  const replays = snapshot.devices.map((trace) => replayDevice(trace, snapshot.settings));
  const contexts = createDeviceContexts(snapshot, replays);
  return summarize(file, contexts, { version, rank: rankOfName(path) });
}

async function textOf(path: string): Promise<string> {
  const bytes = await readFile(path);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  try {
    // What a summary may have at most, many times over: a bomb ends here.
    const whole = isGzip ? await promisify(gunzip)(bytes, { maxOutputLength: 2 ** 24 }) : bytes;
    return whole.toString('utf8');
  } catch {
    throw new LoadError({ code: 'bad-summary', message: 'This summary is cut short or damaged.' });
  }
}
