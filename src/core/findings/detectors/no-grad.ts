/** Evaluation or inference that keeps the graph: activations saved for a backward that never comes. */
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { NEVER } from '../../replay/types.ts';
import type { StackIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import {
  evidence,
  fingerprint,
  frameLocation,
  place,
  sitePart,
  sumBySite,
  thinned,
} from '../finding-parts.ts';
import { type ForwardRun, forwardRuns } from '../steps/forward-runs.ts';
import type { Detector, DetectorResult, FindingBy } from '../types.ts';

export const noGrad = {
  id: 'no-grad',
  about: 'forward passes that keep their graph for a backward that never comes',
  titles: { 'graph-without-backward': 'Graph without backward' },
  band: { style: 'growth', label: 'graphs without backward' },
  evidenceSearch: 'line',
  isMendedBySettings: false,
  checklist: [{ order: 30, label: 'Inference mode' }],
} as const satisfies Detector;
type NoGradFinding = FindingBy<typeof noGrad>;

/** Shorter runs (a single layer, a loss module) say nothing. */
const MIN_ALLOCATIONS = 8;
/** Share of a run's tensors that is alive at its end. Inference keeps outputs and caches, a graph keeps most. */
const GRAPH_SHARE = 0.4;
const MIN_RUNS = 2;
/** Below this share of the peak it is not worth a change. */
const MIN_PEAK_SHARE = 0.02;
const TOP_PARTS = 8;

export function detectNoGrad(context: AnalysisContext): DetectorResult<NoGradFinding> {
  const { replay } = context.input;
  if (!context.hasTrace) {
    return {
      status: 'cannot-tell',
      reason:
        'The file has no trace: what was kept, and whether backward used it, is not recorded.',
    };
  }
  const runs = forwardRuns(context).filter(({ allocations }) => allocations >= MIN_ALLOCATIONS);
  if (runs.length === 0) {
    return {
      status: 'cannot-tell',
      reason:
        'No forward pass of a torch.nn.Module with several allocations is in the recorded stacks.',
    };
  }
  const findings: NoGradFinding[] = [];
  for (const [call, own] of byCall(runs)) {
    const unused = own.filter(isUnusedGraph);
    if (unused.length < MIN_RUNS) continue;
    const finding = toFinding(context, call, unused, own.length);
    if (finding.bytes >= MIN_PEAK_SHARE * replay.peaks.allocatedBytes.bytes) findings.push(finding);
  }
  if (findings.length > 0) {
    return { status: 'found', findings: findings.sort((a, b) => b.bytes - a.bytes) };
  }
  const judged = runs.filter(({ isCutOff }) => !isCutOff);
  if (judged.length === 0) {
    return { status: 'cannot-tell', reason: 'The recording breaks off in its only forward pass.' };
  }
  const graphs = judged.filter(keepsGraph).length;
  return {
    status: 'clear',
    checked: `${plural(judged.length, 'forward pass', 'forward passes')}: ${graphs} kept a graph and backward used it, ${judged.length - graphs} kept none.`,
  };
}

function keepsGraph({ keptCount, allocations }: ForwardRun): boolean {
  return keptCount >= MIN_ALLOCATIONS / 2 && keptCount >= GRAPH_SHARE * allocations;
}

function isUnusedGraph(run: ForwardRun): boolean {
  return keepsGraph(run) && !run.isCutOff && run.unusedBytes > run.keptBytes / 2;
}

function byCall(runs: readonly ForwardRun[]): Map<StackIndex, ForwardRun[]> {
  const groups = new Map<StackIndex, ForwardRun[]>();
  for (const run of runs) {
    const own = groups.get(run.call) ?? [];
    own.push(run);
    groups.set(run.call, own);
  }
  return groups;
}

function toFinding(
  context: AnalysisContext,
  call: StackIndex,
  runs: readonly ForwardRun[],
  total: number,
): NoGradFinding {
  const { allocations: table, peaks } = context.input.replay;
  const isSetUp = setUpTest(context, runs);
  const ids: number[] = [];
  for (const { first, last, close } of runs) {
    for (let id = first; id <= last; id++) {
      if (table.freeRequested[id] > close && !isSetUp(id)) ids.push(id);
    }
  }
  const savedBytes = highestAtOnce(context, runs, isSetUp);
  const largest = runs.reduce((a, b) => (b.keptBytes > a.keptBytes ? b : a));
  const where = place(context, call);
  const sites = sumBySite(context, ids);
  const headline = `${plural(runs.length, 'forward pass', 'forward passes')} at ${frameLocation(where.frame)} kept their activations for a backward that never came`;
  return {
    detector: 'no-grad',
    kind: 'graph-without-backward',
    severity: savedBytes >= 0.2 * peaks.allocatedBytes.bytes ? 'high' : 'medium',
    bytes: savedBytes,
    headline: `${headline}.`,
    claim: `${headline}: ${formatPercent(largest.keptCount / largest.allocations)} of the tensors of a pass were alive at its end, up to ${formatBytes(largest.keptBytes)}. Under torch.inference_mode() about ${formatBytes(savedBytes)} less would have been in use at the worst moment.`,
    ...where,
    perStep: undefined,
    events: { first: table.start[runs[0].first], last: runs[runs.length - 1].close },
    parts: sites.slice(0, TOP_PARTS).map((site) => sitePart(context, site, 'kept for backward')),
    facts: [
      { label: 'forward passes from this call', count: total },
      { label: 'of them without backward', count: runs.length },
      { label: 'kept at the end of one', bytes: largest.keptBytes },
      {
        label: 'of it the output, which stays',
        bytes: largest.output < 0 ? 0 : table.sizeBytes[largest.output],
      },
    ],
    evidence: evidence(
      context,
      ids,
      sites.map(({ stack }) => stack),
    ),
    series: {
      unit: 'step',
      label: 'bytes kept by each pass',
      events: thinned(runs.map(({ close }) => close)),
      bytes: thinned(runs.map(({ keptBytes }) => keptBytes)),
    },
    advice: [
      'Run evaluation and inference under torch.inference_mode(), or torch.no_grad() where its tensors enter autograd later. model.eval() alone does not stop the graph.',
      'If only some outputs are needed, keep output.detach().',
    ],
    disproof:
      'A backward over these passes comes later, outside this recording, or through another process.',
    fingerprint: fingerprint(context, 'no-grad', 'graph-without-backward', call),
  };
}

/** cuBLAS's workspace and the like: made by the first pass alone, of a size no other has, and never freed. */
function setUpTest(context: AnalysisContext, runs: readonly ForwardRun[]): (id: number) => boolean {
  const { stack, sizeBytes, freeRequested } = context.input.replay.allocations;
  const key = (id: number): string => `${stack[id]} ${sizeBytes[id]}`;
  const isRepeated = new Set<string>();
  for (const { first, last } of runs.slice(1)) {
    for (let id = first; id <= last; id++) isRepeated.add(key(id));
  }
  const end = runs[0].last;
  return (id) => id <= end && freeRequested[id] === NEVER && !isRepeated.has(key(id));
}

/** Most bytes of these graphs that were alive together, without the outputs: those stay in any case. */
function highestAtOnce(
  context: AnalysisContext,
  runs: readonly ForwardRun[],
  isSetUp: (id: number) => boolean,
): number {
  const { freeRequested, sizeBytes } = context.input.replay.allocations;
  const changes: { event: number; bytes: number }[] = [];
  for (const { first, last, close, output } of runs) {
    for (let id = first; id <= last; id++) {
      if (freeRequested[id] <= close || id === output || isSetUp(id)) continue;
      changes.push({ event: close, bytes: sizeBytes[id] });
      changes.push({ event: freeRequested[id], bytes: -sizeBytes[id] });
    }
  }
  changes.sort((a, b) => a.event - b.event || a.bytes - b.bytes);
  let now = 0;
  let most = 0;
  for (const { bytes } of changes) {
    now += bytes;
    most = Math.max(most, now);
  }
  return most;
}
