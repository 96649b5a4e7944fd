/** Jobs for tests: summaries of real ranks, and copies changed in one way. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { RankFile } from '../analysis/ranks/number-files.ts';
import { readSummary } from '../analysis/summary-file/read-rank-file.ts';
import type { RankSummary, SummaryFinding, SummarySite } from '../analysis/summary-file/types.ts';

/** 'fsdp2_rank0': a summary of fixtures/fleet. */
export function fleetSummary(name: string): RankSummary {
  return readSummary(readFileSync(`fixtures/fleet/${name}.vramscope.json`, 'utf8'));
}

/** 'skewed_experts.all': the four ranks of a job in fixtures/fleet. */
export function fleetJob(name: string): RankFile[] {
  return [0, 1, 2, 3].map((rank) => {
    const path = `${name}_rank${rank}.vramscope.json.gz`;
    const text = gunzipSync(readFileSync(`fixtures/fleet/${path}`)).toString();
    return { path, summary: readSummary(text) };
  });
}

export const pipelineRanks = (): RankFile[] =>
  [0, 1, 2, 3].map((rank) => ({
    path: `pipeline_rank${rank}.vramscope.json`,
    summary: fleetSummary(`pipeline_rank${rank}`),
  }));

/** `count` identical ranks of one job, copies of rank 0 of the FSDP2 job. */
export function equalRanks(count: number): RankFile[] {
  const summary = fleetSummary('fsdp2_rank0');
  return Array.from({ length: count }, (_, rank) => ({
    path: `rank${rank}.vramscope.json`,
    summary: { ...summary, rank, file: { ...summary.file, name: `rank${rank}.pickle` } },
  }));
}

/** The ranks with one of them changed. */
export function withRank(
  files: readonly RankFile[],
  rank: number,
  change: (summary: RankSummary) => RankSummary,
): RankFile[] {
  return files.map((file, i) => (i === rank ? { ...file, summary: change(file.summary) } : file));
}

/** The largest call site with a line at the peak. */
export function largestSite({ callSites }: RankSummary): SummarySite {
  const found = callSites.find(({ frame }) => frame !== null);
  if (found === undefined) throw new Error('no call site with a line');
  return found;
}

/** A call site with this much more memory, and the peaks raised with it. */
export function grown(summary: RankSummary, key: string, by: Partial<SummarySite>): RankSummary {
  const before = summary.callSites.find((site) => site.key === key);
  if (before === undefined) throw new Error(`no call site ${key}`);
  const after = { ...before, ...by };
  const more = after.peakBytes - before.peakBytes;
  const callSites = summary.callSites.map((site) => (site === before ? after : site));
  return raised({ ...summary, callSites }, more);
}

/** A call site that the others lack. */
export function withSite(summary: RankSummary, site: SummarySite): RankSummary {
  const { program } = summary;
  return raised(
    {
      ...summary,
      callSites: [site, ...summary.callSites],
      program: {
        count: program.count + 1,
        keys: [...program.keys, site.line],
        allocations: [...program.allocations, site.allocations],
      },
    },
    site.peakBytes,
  );
}

export function raised(summary: RankSummary, bytes: number): RankSummary {
  const { peak } = summary;
  const higher = (name: 'allocatedBytes' | 'reservedBytes' | 'activeBytes') => ({
    ...peak[name],
    bytes: (peak[name].bytes ?? 0) + bytes,
  });
  return {
    ...summary,
    peak: {
      ...peak,
      allocatedBytes: higher('allocatedBytes'),
      activeBytes: higher('activeBytes'),
      reservedBytes: higher('reservedBytes'),
    },
  };
}

export function growthAt(site: SummarySite, bytes: number): SummaryFinding {
  return {
    detector: 'growth',
    kind: 'kept-tensor',
    severity: 'high',
    bytes,
    claim: 'It keeps a tensor every step.',
    frame: site.frame,
    perStep: { bytes: bytes / 10, count: 1, steps: 10 },
    sites: [site.key],
  };
}
