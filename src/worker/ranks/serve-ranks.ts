/**
 * A worker of the ranks page. One kind does both jobs: some summarize snapshots, one file at a time, and drop the tables;
 * one holds all summaries.
 */

import { analyseJob, type Job, type JobFile } from '../../analysis/ranks/analyse-job.ts';
import {
  type JobView,
  jobView,
  type RankDetails,
  rankDetails,
} from '../../analysis/ranks/job-view.ts';
import { type ReadRank, readRankFile } from '../../analysis/summary-file/read-rank-file.ts';
import type { ByteSource } from '../../format/input/types.ts';
import { ranksText } from '../../output/report/ranks.ts';
import { MARKDOWN } from '../../output/report/text.ts';
import { webPlatform } from '../byte-source.ts';
import type { OpenSource } from '../protocol.ts';
import { type Endpoint, type Method, serve, transferring } from '../rpc.ts';

/** A file of a job, and its path in the folder. */
export interface RankSource {
  readonly path: string;
  readonly source: OpenSource;
}

export interface RanksQueries {
  readonly job: Method<undefined, JobView>;
  readonly details: Method<{ readonly rank: number }, RankDetails | undefined>;
  readonly markdown: Method<undefined, string>;
}

export interface RanksMethods extends RanksQueries {
  /** Reads one file, then forgets it. */
  readonly readRank: Method<RankSource, ReadRank>;
  /** Reads summaries from files and keeps them; reports how many have been read since the last report. */
  readonly readSummaries: Method<{ readonly sources: readonly RankSource[] }, undefined, number>;
  readonly add: Method<JobFile, undefined>;
}

export interface RanksServerOptions {
  readonly version: string;
  readonly sourceOf: (source: OpenSource) => ByteSource | Promise<ByteSource>;
}

/** Summaries read at a time: they are small, so reading one by one would leave the worker idle. */
const READ_AT_ONCE = 16;
const PROGRESS_EVERY = 16;

export function serveRanks(page: Endpoint, options: RanksServerOptions): void {
  const { version, sourceOf } = options;
  const files: JobFile[] = [];
  let latest: Job | undefined;

  // A truncated file is shown as far as it goes, and named.
  const readRank = ({ path, source }: RankSource): Promise<ReadRank> =>
    readRankFile(path, () => sourceOf(source), webPlatform, { version, allowPartial: true });

  function add(file: JobFile): undefined {
    files.push(file);
    latest = undefined;
  }

  function job(): Job {
    latest ??= analyseJob(files);
    return latest;
  }

  serve<RanksMethods>(page, {
    readRank,
    async readSummaries({ sources }, { onProgress }) {
      const rest = sources.values();
      let done = 0;
      const takeTurns = async () => {
        for (const source of rest) {
          add({ path: source.path, ...(await readRank(source)) });
          if (++done % PROGRESS_EVERY === 0) onProgress(PROGRESS_EVERY);
        }
      };
      await Promise.all(Array.from({ length: READ_AT_ONCE }, takeTurns));
      return undefined;
    },
    add,
    job: () => transferring(jobView(job())),
    details: ({ rank }) => rankDetails(job(), rank),
    markdown: () => `${ranksText(job(), MARKDOWN).join('\n')}\n`,
  });
}
