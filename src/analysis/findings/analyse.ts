/** Runs every detector on one device and reports findings as they come. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import { plural } from '../../base/format.ts';
import { type Judgement, judge } from '../verdict/verdict.ts';
import { AnalysisInput } from './analysis-input.ts';
import {
  type Check,
  DETECTOR_IDS,
  type DetectorId,
  type Finding,
  RUN_DETECTOR,
} from './detectors.ts';
import { cannotTell, clear } from './finding-parts.ts';
import { bySeverity } from './ranked-findings.ts';
import type { DetectorResult, DeviceTables } from './types.ts';
import { checkOn, findingOn, judgementOn } from './vendor-words.ts';

export interface AnalyseOptions {
  /** Called with a detector's findings before its check. */
  readonly onFinding?: (finding: Finding) => void;
  readonly onCheck?: (check: Check) => void;
  /** Awaited between detectors so that a worker can read its messages. If it rejects, the analysis ends. */
  readonly pause?: () => Promise<void>;
}

export interface Analysis extends Judgement {
  readonly checks: readonly Check[];
  /** The most severe first, then the largest. */
  readonly findings: readonly Finding[];
}

/** Rejects with what `pause` rejects with; findings already reported stay valid. */
export function analyse(input: DeviceTables, options: AnalyseOptions = {}): Promise<Analysis> {
  return analyseContext(new AnalysisInput(input), options);
}

/** Like `analyse`, for callers that also need the steps and call sites: both are computed once. */
export async function analyseContext(
  context: AnalysisInput,
  options: AnalyseOptions = {},
): Promise<Analysis> {
  const findings: Finding[] = [];
  const checks: Check[] = [];
  const { trace } = context.input;
  for (const detector of DETECTOR_IDS) {
    await options.pause?.();
    const result = toldInstead(detect(detector, context), detector, findings);
    const found = result.status === 'found' ? result.findings : [];
    const fresh = found.filter((finding) => !isTold(context, findings, finding));
    for (const finding of fresh) {
      findings.push(finding);
      options.onFinding?.(findingOn(trace, finding));
    }
    const reason = reasonOf(result, fresh.length);
    const check = checkOn(trace, { detector, status: result.status, reason });
    checks.push(check);
    options.onCheck?.(check);
  }
  const judgement = judgementOn(trace, judge(context, findings));
  const told = findings.map((finding) => findingOn(trace, asJudged(finding, judgement)));
  return { checks, findings: told.sort(bySeverity), ...judgement };
}

/** These describe what the growth check may have found too: kept graphs, and copies that pile up one by one. */
const RETELLING: readonly DetectorId[] = ['no-grad', 'level-shift'];

/**
 * Kept graphs that grow are the growth check's: then no other check calls graphs clear, unless each had its backward.
 */
function toldInstead(
  result: DetectorResult<Finding>,
  detector: DetectorId,
  told: readonly Finding[],
): DetectorResult<Finding> {
  const kept = told.filter(({ kind }) => kind === 'kept-graph');
  if (detector !== 'no-grad' || result.status !== 'clear' || kept.length === 0) return result;
  return kept.every(({ pattern }) => pattern === 'retained-graph' || pattern === 'created-graph')
    ? clear(`${result.checked} Graphs that stay after it are told as growth.`)
    : { status: 'found', findings: [] };
}

/** Whether a growth finding has most of its bytes: one memory has one finding. */
function isTold({ input }: AnalysisInput, told: readonly Finding[], finding: Finding): boolean {
  if (!RETELLING.includes(finding.detector)) return false;
  const { sizeBytes } = input.replay.allocations;
  const { allocations } = finding.evidence;
  const bytesOf = (ids: Iterable<AllocationIndex>) => sumBy(ids, (id) => sizeBytes[id]);
  return told.some(({ detector, evidence }) => {
    const own = new Set(detector === 'growth' ? evidence.allocations : []);
    return bytesOf(allocations.filter((id) => own.has(id))) > bytesOf(allocations) / 2;
  });
}

/**
 * The verdict's own finding gets the verdict's severity: a detector alone knows fewer bytes. The OOM that the verdict
 * is about has the verdict's advice, which knows what filled the memory then; earlier ones may have had other causes.
 */
function asJudged(finding: Finding, { verdict, account }: Judgement): Finding {
  const { finding: lead, severity, advice } = verdict;
  const isJudged = finding.detector === 'oom' && finding.events.last === account.moment.event;
  if (isJudged && account.moment.why === 'oom' && advice.length > 0)
    return { ...finding, advice: advice.map(({ text }) => text) };
  const isGraver = severity === 'high' || (severity === 'medium' && finding.severity === 'low');
  const isLead = finding.fingerprint === lead && finding.detector === 'growth';
  return isLead && isGraver ? { ...finding, severity } : finding;
}

/** What a file without a trace does not show. */
const UNRECORDED: Readonly<Record<DetectorId, string>> = {
  growth: 'growth shows only over time',
  oom: 'no OOM could be recorded',
  fragmentation: 'whether more was needed before the end is not recorded',
  'no-grad': 'what was kept, and whether backward used it, is not recorded',
  'pending-free': 'when frees were requested and when they completed is not recorded',
  'segment-thrashing': 'calls of the driver are not recorded',
  'level-shift': 'a step up shows only over time',
};

export function detect(detector: DetectorId, context: AnalysisInput): DetectorResult<Finding> {
  if (context.hasTrace) return RUN_DETECTOR[detector](context);
  return cannotTell(`The file has no trace: ${UNRECORDED[detector]}.`);
}

/** @param fresh how many of the findings no earlier one tells */
function reasonOf(result: DetectorResult, fresh: number): string {
  switch (result.status) {
    case 'found':
      return fresh === 0 ? 'another finding tells it' : plural(fresh, 'finding');
    case 'clear':
      return result.checked;
    default:
      return result.reason;
  }
}
