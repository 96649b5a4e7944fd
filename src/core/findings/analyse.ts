/** Runs every detector over one device, handing out findings as they come. */
import { plural } from '../base/format.ts';
import { AnalysisContext } from './analysis-context.ts';
import { detectFragmentation } from './detectors/fragmentation.ts';
import { detectGrowth } from './detectors/growth.ts';
import { detectNoGrad } from './detectors/no-grad.ts';
import { detectOom } from './detectors/oom.ts';
import { detectPeak } from './detectors/peak.ts';
import { detectPendingFree } from './detectors/pending-free.ts';
import { detectChurn } from './detectors/segment-thrashing.ts';
import { detectWaste } from './detectors/waste.ts';
import {
  type AnalysisInput,
  type Check,
  DETECTOR_IDS,
  type DetectorId,
  type DetectorResult,
  type Finding,
  SEVERITIES,
} from './types.ts';

const DETECTORS: Readonly<Record<DetectorId, (study: AnalysisContext) => DetectorResult>> = {
  growth: detectGrowth,
  oom: detectOom,
  fragmentation: detectFragmentation,
  'no-grad': detectNoGrad,
  peak: detectPeak,
  'pending-free': detectPendingFree,
  churn: detectChurn,
  waste: detectWaste,
};

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
export async function analyse(
  input: AnalysisInput,
  options: AnalyseOptions = {},
): Promise<Analysis> {
  const study = new AnalysisContext(input, options.isCancelled);
  const findings: Finding[] = [];
  const checks: Check[] = [];
  for (const detector of DETECTOR_IDS) {
    await options.pause?.();
    study.checkCancelled();
    const result = detect(detector, study);
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
export function detect(detector: DetectorId, study: AnalysisContext): DetectorResult {
  return DETECTORS[detector](study);
}

/** For sorting: the most severe first, of equally severe ones the one of most bytes. */
export function bySeverity(a: Finding, b: Finding): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.bytes - a.bytes;
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
