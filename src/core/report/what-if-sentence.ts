/** One setting against the recorded run, in a sentence: for findings, reports and the page's headline. */
import { formatBytes, formatCount, plural } from '../base/format.ts';
import { RETRIED } from '../findings/detectors/oom.ts';
import { detectorOf, type Finding } from '../findings/detectors.ts';
import type { RecordedRun } from '../simulator/recorded-run.ts';
import type { SimulatedOom, WhatIfResult } from '../simulator/types.ts';

/** The setting that findings cite. */
export const CITED_SETTING = 'expandable_segments:True';

/** Whether it may mend what the finding tells. */
export function isCiting(finding: Pick<Finding, 'detector' | 'kind'>): boolean {
  return detectorOf(finding).isMendedBySettings && finding.kind !== RETRIED;
}

type Recorded = Pick<RecordedRun, 'peakReservedBytes' | 'ooms' | 'retries'>;

/**
 * What follows the setting's name: 'would have needed 5.44 GiB instead of 15.86 GiB'. Both are peaks of
 * reserved memory. Without a full stop.
 */
export function whatIfSentence(result: WhatIfResult, recorded: Recorded): string {
  const failure = result.ooms.at(-1);
  if (failure !== undefined) {
    const too = failure.isRecorded ? ' too' : '';
    return `would have run out of memory${too} ${failureText(failure)}`;
  }
  const sentence =
    recorded.ooms > 0 ? servedSentence(result, recorded) : neededSentence(result, recorded);
  // Little memory with many retries is not little that was needed.
  if (result.retries <= recorded.retries) return sentence;
  return `${sentence}, giving back all that it cached ${plural(result.retries, 'time')}`;
}

function neededSentence(result: WhatIfResult, recorded: Recorded): string {
  const needed = formatBytes(result.peakReservedBytes);
  if (result.peakReservedBytes === recorded.peakReservedBytes) {
    return `would have needed the same ${needed}`;
  }
  return `would have needed ${needed} instead of ${formatBytes(recorded.peakReservedBytes)}`;
}

/** Of a recorded run that failed, where this one does not. */
function servedSentence(result: WhatIfResult, { ooms, peakReservedBytes }: Recorded): string {
  const needed = formatBytes(result.peakReservedBytes);
  const failed = ooms === 1 ? 'the request that failed' : `the ${formatCount(ooms)} that failed`;
  // Without a limit everything is served, and what is cached is never given back: no use to compare.
  if (result.limitBytes === undefined) {
    return `would have reserved ${needed} where nothing limits it, with ${failed} served`;
  }
  return `would have served ${failed}, with ${needed} instead of ${formatBytes(peakReservedBytes)}`;
}

/** 'at event 6,302: 380.00 MiB were asked for, 20.00 MiB too much' */
export function failureText({ event, requestedBytes, missingBytes }: SimulatedOom): string {
  const where = event < 0 ? 'before the trace' : `at event ${formatCount(event)}`;
  return `${where}: ${formatBytes(requestedBytes)} were asked for, ${formatBytes(missingBytes)} too much`;
}
