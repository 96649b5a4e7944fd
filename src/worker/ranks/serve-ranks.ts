/** The queries that a worker of the ranks page answers. */

import { analyseJob } from '../../analysis/ranks/analyse-job.ts';
import type { Job, RankFile, UnreadFile } from '../../analysis/ranks/types.ts';
import { type ReadRank, readRankFile } from '../../analysis/summary-file/read-rank-file.ts';
import type { ByteSource, Platform } from '../../format/input/types.ts';
import { ranksMarkdown } from '../../output/report/ranks-text.ts';
import type { OpenSource } from '../protocol.ts';
import { type Handlers, serve, transferring } from '../rpc.ts';
import { jobView, rankDetails } from './job-view.ts';
import type { RankSource, RanksMethods } from './protocol.ts';

export interface RanksServerOptions {
  readonly platform: Platform;
  readonly version: string;
  readonly sourceOf: (source: OpenSource) => ByteSource | Promise<ByteSource>;
}

/** Summaries read at a time: they are small, so reading one by one would leave the worker idle. */
const READ_AT_ONCE = 16;
const PROGRESS_EVERY = 16;

export function serveRanks(port: MessagePort, options: RanksServerOptions): void {
  serve<RanksMethods>(port, new RanksServer(options).handlers());
}

class RanksServer {
  readonly #options: RanksServerOptions;
  readonly #files: RankFile[] = [];
  readonly #unread: UnreadFile[] = [];
  #job: Job | undefined;

  constructor(options: RanksServerOptions) {
    this.#options = options;
  }

  handlers(): Handlers<RanksMethods> {
    return {
      readRank: (source) => this.#read(source),
      readSummaries: ({ sources }, { onProgress }) => this.#readSummaries(sources, onProgress),
      add: ({ path, read }) => this.#add(path, read),
      job: () => transferring(jobView(this.#analysed())),
      details: ({ rank }) => rankDetails(this.#analysed(), rank),
      markdown: () => `${ranksMarkdown(this.#analysed()).join('\n')}\n`,
    };
  }

  #read({ path, source }: RankSource): Promise<ReadRank> {
    const { platform, version, sourceOf } = this.#options;
    // A truncated file is shown as far as it goes, and named.
    return readRankFile(path, () => sourceOf(source), platform, { version, allowPartial: true });
  }

  async #readSummaries(
    sources: readonly RankSource[],
    onProgress: (done: number) => void,
  ): Promise<undefined> {
    const queue = [...sources].reverse();
    let done = 0;
    const takeTurns = async () => {
      for (let source = queue.pop(); source !== undefined; source = queue.pop()) {
        this.#add(source.path, await this.#read(source));
        if (++done % PROGRESS_EVERY === 0) onProgress(done);
      }
    };
    await Promise.all(Array.from({ length: READ_AT_ONCE }, takeTurns));
    return undefined;
  }

  #add(path: string, read: ReadRank): undefined {
    if ('summary' in read) this.#files.push({ path, summary: read.summary });
    else this.#unread.push({ path, failure: read.failure });
    this.#job = undefined;
  }

  #analysed(): Job {
    this.#job ??= analyseJob(this.#files, { unread: this.#unread });
    return this.#job;
  }
}
