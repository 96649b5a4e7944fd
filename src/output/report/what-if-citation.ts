/** Compares one setting with the recorded run in a sentence, for findings, reports and the page's headline. */

import { CITED_SETTING, startGapBytes } from '../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../allocator/simulator/recorded-run.ts';
import type { SimulatedOom, WhatIfResult } from '../../allocator/simulator/types.ts';
import { RETRIED_KIND } from '../../analysis/detectors/oom.ts';
import type { Analysis } from '../../analysis/findings/analyse.ts';
import { detectorOf, type Finding } from '../../analysis/findings/detectors.ts';
import {
  isSimulated,
  MOST_EVENTS,
  simulatedSetting,
} from '../../analysis/findings/simulated-setting.ts';
import { AFTER_OOM } from '../../analysis/verdict/types.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';

/** Whether that setting may fix the finding's problem. */
export function isCiting(finding: Pick<Finding, 'detector' | 'kind'>): boolean {
  return detectorOf(finding).isMendedBySettings === true && finding.kind !== RETRIED_KIND;
}

type Recorded = Pick<
  RecordedRun,
  'peakReservedBytes' | 'peakAllocatedBytes' | 'startReservedBytes' | 'ooms' | 'retries' | 'limit'
>;

/**
 * The part after the setting's name, without a full stop: 'would have needed 5.44 GiB instead of 15.86 GiB'. Both
 * are peaks of reserved memory.
 */
export function whatIfSentence(result: WhatIfResult, recorded: Recorded): string {
  const { confidence } = result;
  const sure = confidence === 'high' ? '' : ` (confidence ${confidence})`;
  return `${outcomeText(result, recorded)}${sure}`;
}

function outcomeText(result: WhatIfResult, recorded: Recorded): string {
  const failure = result.ooms.at(-1);
  if (failure !== undefined) {
    // The request is the recorded one, whose figures are told beside: what it lacks here is a second figure for it.
    const at = failure.isRecorded
      ? `too, at event ${formatCount(failure.event)}`
      : failureText(failure);
    const under = isLeast(result, recorded)
      ? ` under a limit of ${formatBytes(result.limitBytes ?? 0)}, the least that it can have been,`
      : underText(result, recorded);
    return `would have run out of memory${under} ${at}`;
  }
  // A low peak reached by many retries does not mean that little was needed.
  const cost =
    result.retries > recorded.retries
      ? `, releasing its whole cache ${plural(result.retries, 'time')}`
      : '';
  const start = startText(result, recorded);
  if (recorded.ooms === 0) return `${neededSentence(result, recorded)}${cost}${start}`;
  return `${servedSentence(result, recorded)}${cost}${start}; ${AFTER_OOM}`;
}

/** Below a table of differences. */
export const OTHER_START = '* Starts without the cache from before the recording.';

/** The two runs start from different states: part of the difference is not the setting's. */
function startText(result: WhatIfResult, recorded: Recorded): string {
  const gapBytes = startGapBytes(result, recorded);
  return gapBytes === 0
    ? ''
    : `, starting with ${formatBytes(gapBytes)} less reserved: without the cache from before the recording`;
}

/** Recorded requests show how high the limit was at least. What is served under that is served under any other; what fails may not. */
const isLeast = ({ limitBytes }: WhatIfResult, { limit }: Recorded): boolean =>
  limitBytes !== undefined && limit?.likelyBytes === limitBytes;

/** " under this process's limit of at least 6.00 GiB", ' under a limit of 7.35 GiB' */
function underText(result: WhatIfResult, recorded: Recorded): string {
  const { limitBytes } = result;
  if (limitBytes === undefined) return '';
  return isLeast(result, recorded)
    ? ` under this process's limit of at least ${formatBytes(limitBytes)}`
    : ` under a limit of ${formatBytes(limitBytes)}`;
}

function neededSentence(result: WhatIfResult, recorded: Recorded): string {
  const needed = formatBytes(result.peakReservedBytes);
  if (result.peakReservedBytes === recorded.peakReservedBytes) {
    return `would have needed the same ${needed}`;
  }
  // The recorded limit let the run through: only another one matters.
  const under =
    result.limitBytes === recorded.limit?.likelyBytes ? '' : underText(result, recorded);
  return `would have needed ${needed}${under} instead of ${formatBytes(recorded.peakReservedBytes)}`;
}

const failedText = (ooms: number): string =>
  ooms === 1 ? 'the request that failed' : `the ${formatCount(ooms)} requests that failed`;

/** Beside a size of memory that served a run that broke off: it is not all that the run needs. */
export const MORE_FOLLOWS = 'More requests would have followed, so the run may need more memory.';

/** For a recorded run that failed, under a setting where it succeeds. */
function servedSentence(result: WhatIfResult, recorded: Recorded): string {
  const needed = formatBytes(result.peakReservedBytes);
  const failed = failedText(recorded.ooms);
  // Without a limit, every request succeeds and the cache is never released, so a comparison would mean nothing.
  if (result.limitBytes === undefined) {
    return `would have reserved ${needed} where nothing limits it, with ${failed} served`;
  }
  // What the recorded run reserved until it failed is no measure.
  return `would have served ${failed}${underText(result, recorded)}, reserving ${needed}${smallerText(result, recorded)}`;
}

/** A block may be larger than its request, by what is too little to split off: other settings may split it. */
const smallerText = (result: WhatIfResult, recorded: Recorded): string =>
  result.peakReservedBytes < recorded.peakAllocatedBytes
    ? ` (blocks fit their requests better there: at most ${formatBytes(result.peakAllocatedBytes)} allocated)`
    : '';

/**
 * 'at event 6,302: 380.00 MiB was requested, which takes a limit 20.00 MiB higher'. A verdict's missing bytes are fewer:
 * they count gaps as if they were one piece.
 */
export function failureText({ event, requestedBytes, missingBytes }: SimulatedOom): string {
  const where = event < 0 ? 'before the trace' : `at event ${formatCount(event)}`;
  return `${where}: ${formatBytes(requestedBytes)} was requested, which takes a limit ${formatBytes(missingBytes)} higher`;
}

/** 'ran out at event 6,302' */
export const ranOutText = ({ event }: Pick<SimulatedOom, 'event'>): string =>
  event < 0 ? 'ran out before the recording' : `ran out at event ${formatCount(event)}`;

/** '≥ 1': a simulated run ends at the first OOM that the recording did not have, so there may be more. */
export const oomCountText = (ooms: WhatIfResult['ooms']): string =>
  `${ooms.at(-1)?.isRecorded === false ? '≥ ' : ''}${formatCount(ooms.length)}`;

/** Adds the simulated peak to the advice of each finding that the setting may fix; returns the same object if none. */
export function citeWhatIf(
  analysis: Analysis,
  context: Pick<DeviceModel, 'trace' | 'replay' | 'snapshot'>,
): Analysis {
  if (!isSimulated(context.trace) || !analysis.findings.some(isCiting)) return analysis;
  return { ...analysis, findings: cited(analysis.findings, citationOf(context)) };
}

/** With the citation in the advice of those that the setting may fix. @param citation from `citationText` */
export const cited = <F extends Finding>(findings: readonly F[], citation: string): readonly F[] =>
  findings.map((finding) =>
    isCiting(finding) ? { ...finding, advice: withCitation(finding.advice, citation) } : finding,
  );

/** What findings quote of the setting's run. */
export const citationText = (result: WhatIfResult, recorded: Recorded): string =>
  `Simulated: ${CITED_SETTING} ${whatIfSentence(result, recorded)}. vramscope whatif compares settings.`;

function citationOf(context: Parameters<typeof citeWhatIf>[1]): string {
  const simulated = simulatedSetting(context);
  if (simulated === undefined) {
    return `${CITED_SETTING} is not simulated here for recordings of more than ${formatCount(MOST_EVENTS)} events. Run vramscope whatif instead.`;
  }
  return citationText(simulated.result, simulated.recorded);
}

/** After the advice that mentions the setting, or at the end. */
function withCitation(advice: readonly string[], citation: string): readonly string[] {
  const at = advice.findIndex((text) => text.includes(CITED_SETTING.split(':')[0]));
  const end = at < 0 ? advice.length : at + 1;
  return [...advice.slice(0, end), citation, ...advice.slice(end)];
}
