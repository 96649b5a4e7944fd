/**
 * What a person goes through who wonders where the memory went, in that order, with what the detectors
 * say to each point. A point can be of several detectors, and a detector's answer serve several points.
 */
import { formatBytes, plural } from '../base/format.ts';
import type { Analysis } from './analyse.ts';
import type { Check, DetectorId, Finding, RemedyId } from './types.ts';

export interface ChecklistItem {
  readonly label: string;
  /** 'found': something to do here. 'waiting': the detector has not run yet. */
  readonly status: Check['status'] | 'waiting';
  readonly text: string;
  /** What a change here would save of the peak, estimated; undefined where it is no matter of that. */
  readonly savedBytes: number | undefined;
  /** Those that it is about; empty where it is clear. */
  readonly findings: readonly Finding[];
}

interface ChecklistFacts {
  /** expandable_segments as recorded; undefined where the file does not say. */
  readonly isExpandable: boolean | undefined;
}

type Answer = Pick<ChecklistItem, 'status' | 'text' | 'findings'> & {
  readonly savedBytes?: number;
};

export function checklist(analysis: Analysis, facts: ChecklistFacts): ChecklistItem[] {
  const of = (detector: DetectorId) => detectorAnswer(analysis, detector);
  const remedy = (id: RemedyId, clear: string) => remedyAnswer(analysis, id, clear);
  const activations = 'Activations are too small a part of the peak for it to matter.';
  const points: readonly (readonly [string, Answer])[] = [
    ['Reserved against allocated', of('fragmentation')],
    ['Batch size', remedy('batch-size', activations)],
    ['Inference mode', of('no-grad')],
    ['LruCache graphs', keptGraphs(analysis)],
    ['Mixed precision', mixedPrecision(remedy('mixed-precision', activations))],
    ['Gradient accumulation', accumulation(remedy('batch-size', activations))],
    ['Checkpointing', remedy('checkpointing', activations)],
    ['Expandable segments', expandable(analysis, facts)],
    ['Leak', of('growth')],
    ['Out of memory', of('oom')],
    ['Composition of the peak', of('peak')],
    ['record_stream', of('pending-free')],
    ['cudaMalloc and cudaFree', of('churn')],
    ['Rounding', of('waste')],
  ];
  return points.map(([label, answer]) => ({ label, savedBytes: undefined, ...answer }));
}

function detectorAnswer({ findings, checks }: Analysis, detector: DetectorId): Answer {
  const check = checks.find((one) => one.detector === detector);
  if (check === undefined) return { status: 'waiting', text: '', findings: [] };
  const own = findings.filter((finding) => finding.detector === detector);
  return { status: check.status, text: check.reason, findings: own };
}

/** What would lower the peak is no fault: it is told as something to do, with its bytes. */
function remedyAnswer(analysis: Analysis, id: RemedyId, clear: string): Answer {
  const peak = detectorAnswer(analysis, 'peak');
  if (peak.status !== 'found') return peak;
  const found = peak.findings.flatMap(({ remedies = [] }) => remedies).find((r) => r.id === id);
  if (found === undefined) return { status: 'clear', text: clear, findings: [] };
  const { text, savedBytes } = found;
  return { status: 'found', text, savedBytes, findings: peak.findings };
}

function accumulation(batch: Answer): Answer {
  if (batch.status !== 'found') return batch;
  return {
    ...batch,
    text: 'Keeps the gradient of the whole batch while each pass holds a part of it: what a smaller batch saves.',
  };
}

/** A recording has bytes, no types: an estimate is all there is. */
function mixedPrecision(answer: Answer): Answer {
  return answer.status === 'found' ? { ...answer, status: 'cannot-tell' } : answer;
}

const KEEPS_GRAPH = new Set(['kept-graph', 'kept-gradients']);

function keptGraphs(analysis: Analysis): Answer {
  const growth = detectorAnswer(analysis, 'growth');
  if (growth.status !== 'found') return growth;
  const graphs = growth.findings.filter(({ kind }) => KEEPS_GRAPH.has(kind));
  if (graphs.length > 0)
    return { status: 'found', text: plural(graphs.length, 'finding'), findings: graphs };
  return {
    status: 'clear',
    text: 'What grows is single tensors: no autograd graph is kept whole.',
    findings: [],
  };
}

function expandable(analysis: Analysis, { isExpandable }: ChecklistFacts): Answer {
  if (isExpandable === true) return { status: 'clear', text: 'They are on.', findings: [] };
  const gaps = detectorAnswer(analysis, 'fragmentation');
  if (gaps.status === 'clear') {
    return { ...gaps, text: 'There are hardly any gaps that they would close.' };
  }
  if (gaps.status !== 'found') return gaps;
  const lost = gaps.findings.filter(({ kind }) => kind === 'reserved-unused');
  if (lost.length === 0) {
    return { status: 'clear', text: 'Gaps are not what matters here.', findings: [] };
  }
  const bytes = lost.reduce((sum, finding) => sum + finding.bytes, 0);
  const state = isExpandable === undefined ? 'Not recorded whether they are on.' : 'They are off.';
  return {
    status: 'found',
    text: `${state} ${formatBytes(bytes)} lies in gaps, which they close.`,
    findings: lost,
  };
}
