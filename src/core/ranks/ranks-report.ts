/** `vramscope ranks --json`: the contract `vramscope.ranks/1`. What is not known is null, never 0. */

import type { FrameReport } from '../device/frame-text.ts';
import type { CounterName, Recording } from '../replay/types.ts';
import type { RankSummary } from '../summary-file/types.ts';
import type { Job, JobProblem, Outlier, Role } from './types.ts';

export interface RanksReport {
  readonly schema: 'vramscope.ranks/1';
  readonly ranks: readonly RankReport[];
  readonly roles: readonly Role[];
  readonly outliers: readonly Outlier[];
  readonly verdict: string;
  readonly failed: readonly { readonly rank: number; readonly step: number | null }[];
  readonly failedFirst: readonly number[];
  readonly problems: readonly JobProblem[];
}

export interface RankReport {
  readonly rank: number;
  readonly file: { readonly name: string };
  readonly device: number;
  readonly role: string;
  readonly peak: { readonly [K in CounterName]: number | null };
  readonly ooms: number;
  readonly recording: Recording;
  readonly aboveRoleBytes: number | null;
}

export function ranksReport(job: Job): RanksReport {
  return {
    schema: 'vramscope.ranks/1',
    ranks: job.ranks.map(({ rank, path, summary, role, aboveRoleBytes }) => ({
      rank,
      file: { name: path },
      device: summary.device,
      role: job.roles[role].name,
      peak: peakBytes(summary.peak),
      ooms: summary.oomCount,
      recording: summary.recording,
      aboveRoleBytes,
    })),
    roles: job.roles,
    outliers: job.outliers.map((outlier) => ({ ...outlier, frame: frameReport(outlier.frame) })),
    verdict: job.verdict,
    failed: job.failure.failed,
    failedFirst: job.failure.first,
    problems: job.problems,
  };
}

function frameReport(frame: FrameReport | null): FrameReport | null {
  return frame === null ? null : { file: frame.file, line: frame.line, name: frame.name };
}

function peakBytes(peak: RankSummary['peak']): RankReport['peak'] {
  return {
    requestedBytes: peak.requestedBytes.bytes,
    allocatedBytes: peak.allocatedBytes.bytes,
    activeBytes: peak.activeBytes.bytes,
    reservedBytes: peak.reservedBytes.bytes,
    inactiveSplitBytes: peak.inactiveSplitBytes.bytes,
  };
}
