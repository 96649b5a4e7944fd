/** Runs every detector over one device, handing out findings as they come. */
import { plural } from '../base/format.ts';
import { AnalysisContext } from './analysis-context.ts';
import {
  type Check,
  DETECTOR_IDS,
  type DetectorId,
  type Finding,
  RUN_DETECTOR,
} from './detectors.ts';
import { bySeverity } from './ranked-findings.ts';
import type { AnalysisInput, DetectorResult } from './types.ts';

export interface AnalyseOptions {
  /** Findings of a detector come before its check. */
  readonly onFinding?: (finding: Finding) => void;
  readonly onCheck?: (check: Check) => void;
  readonly isCancelled?: () => boolean;
  /** Awaited between detectors, so that a worker can read its messages. */
  readonly pause?: () => Promise<void>;
}

export interface Analysis {
  /** In the detectors' order. */
  readonly checks: readonly Check[];
  /** The most severe first, then the largest. */
  readonly findings: readonly Finding[];
}

/** @throws CancelledError when `isCancelled` says so; what has been handed out until then stays true. */
export function analyse(input: AnalysisInput, options: AnalyseOptions = {}): Promise<Analysis> {
  return analyseContext(new AnalysisContext(input, options.isCancelled), options);
}

/** As `analyse`, for callers that need the steps and call sites of the context too: both are found once. */
export async function analyseContext(
  context: AnalysisContext,
  options: Omit<AnalyseOptions, 'isCancelled'> = {},
): Promise<Analysis> {
  const findings: Finding[] = [];
  const checks: Check[] = [];
  for (const detector of DETECTOR_IDS) {
    await options.pause?.();
    context.checkCancelled();
    const result = detect(detector, context);
    if (result.status === 'found') {
      for (const finding of result.findings) {
        findings.push(finding);
        options.onFinding?.(finding);
      }
    }
    const check = { detector, status: result.status, reason: reasonOf(result) };
    checks.push(check);
    options.onCheck?.(check);
  }
  return { checks, findings: findings.sort(bySeverity) };
}

/** One detector by itself. */
export function detect(detector: DetectorId, context: AnalysisContext): DetectorResult<Finding> {
  return RUN_DETECTOR[detector](context);
}

function reasonOf(result: DetectorResult): string {
  switch (result.status) {
    case 'found':
      return plural(result.findings.length, 'finding');
    case 'clear':
      return result.checked;
    default:
      return result.reason;
  }
}
