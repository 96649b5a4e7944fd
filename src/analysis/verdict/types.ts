/** The verdict: what used memory that it should not, or what used the most; and what to try. */
import { formatBytes } from '../../base/format.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EntryKind } from '../account/types.ts';
import type { Severity } from '../findings/types.ts';

/** The kind of an account entry, or something that no single entry shows. */
export type Cause =
  | EntryKind
  /** Parameters, gradients and optimizer state together. */
  | 'model-state'
  /** A single request that is a large part of the total. */
  | 'request'
  /** Free memory in pieces that are too small. */
  | 'fragmentation'
  | 'other-processes'
  /** Communicators of this process, such as NCCL's. */
  | 'collectives'
  /** What else this process holds outside PyTorch. */
  | 'process-rest'
  | 'none'
  | 'unknown';

/** For these, the lines are a call path to the first. For others they are independent, the largest first. */
const CALLED: readonly Cause[] = ['kept', 'kept-graph', 'request'];

/**
 * Other lines of the first line's function, which keep something too, then its callers. A `forward` may call the `forward` of
 * another module.
 */
export function otherLines<Line extends { readonly name: string }>(
  cause: Cause,
  [first, ...others]: readonly Line[],
): { readonly beside: readonly Line[]; readonly callers: readonly Line[] } {
  if (!CALLED.includes(cause)) return { beside: [], callers: [] };
  const isNamedAlike = others.length > 0 && others[0].name === first?.name;
  const isSameFunction =
    isNamedAlike && (cause === 'kept-graph' || (cause === 'kept' && first?.name !== 'forward'));
  return isSameFunction
    ? { beside: others.slice(0, 1), callers: others.slice(1) }
    : { beside: [], callers: others };
}

/** Known program patterns; they decide the wording and the first remedies. */
export type Pattern =
  | 'evaluation-gathers'
  | 'state-not-detached'
  | 'first-optimizer-step'
  | 'whole-graph'
  | 'logits-in-loss'
  | 'kept-exceptions'
  | 'kept-optimizers'
  | 'optimizer-history'
  | 'kept-by-hook'
  | 'kept-gradients'
  | 'kept-weight-gradients'
  | 'kept-numbers'
  | 'retained-graph'
  | 'created-graph'
  | 'kept-copies'
  | 'unbounded-cache'
  | 'larger-batch'
  | 'larger-pass'
  | 'evaluation-without-no-grad'
  | 'stepped-up'
  | 'waiting-graphs'
  | 'resident-data'
  | 'loaded-data'
  | 'piled-up'
  | 'line-scratch'
  | 'larger-part'
  | 'untrained-part'
  | 'long-loop'
  | 'segments-retaken';

/** Stable IDs. */
export type RemedyId =
  | 'batch-size'
  | 'backward-each'
  | 'checkpointing'
  | 'lower-precision'
  | 'optimizer-8bit'
  | 'shard'
  | 'smaller-cache'
  | 'quantize'
  | 'offload'
  | 'adapters'
  | 'sparse-gradients'
  | 'detach'
  | 'no-grad'
  | 'to-cpu'
  | 'chunked-loss'
  | 'one-tensor'
  | 'sampling'
  | 'bound-cache'
  | 'clear-exceptions'
  | 'clear-gradients'
  | 'remove-hook'
  | 'reuse-optimizer'
  | 'share-model'
  | 'share-pool'
  | 'expandable-segments'
  | 'repeat-sizes'
  | 'wait-for-streams'
  | 'raise-limit'
  | 'free-the-device'
  | 'fewer-groups'
  | 'smaller-collectives'
  | 'lean-process'
  | 'check-batch'
  | 'shorter-loop'
  | 'record-more';

export interface Remedy {
  readonly id: RemedyId;
  readonly text: string;
  /** Bytes it saves at the account's moment; undefined if unknown. */
  readonly savesBytes: number | undefined;
  /** Whether the failed request would have fit; undefined without an OOM or if unknown. */
  readonly isEnough: boolean | undefined;
  /** Memory ran out in a phase that had never been completed: the bytes are of what was there by then. */
  readonly soFar?: boolean;
}

/** A simulation shows no more than this about a setting under which the recorded OOM would not have come. */
export const AFTER_OOM = 'what came next is not in the recording';

/**
 * As much as that if nothing of what is kept is needed, if all of a pass grows with the batch or is in blocks, and if all its
 * operators run in the lower precision; without a graph too, a layer needs its input and its output.
 */
const UP_TO: readonly RemedyId[] = [
  'batch-size',
  'detach',
  'to-cpu',
  'no-grad',
  'checkpointing',
  'lower-precision',
];

const SERVES = 'Serves the failed request; more would follow (confidence low).';

/** 'Saves 1.51 GiB, enough for this request.' Without an OOM, what the cause holds may be more than what the peak is lower without it. */
export function gainText({ id, savesBytes, isEnough, soFar = false }: Gain): string {
  const isUnknown = savesBytes === undefined || savesBytes === null;
  if (isUnknown) return isEnough === true ? SERVES : '';
  const most = UP_TO.includes(id) ? 'up to ' : '';
  const size = `${most}${formatBytes(savesBytes)}`;
  if (soFar) return `Saves ${size} so far.`;
  if (typeof isEnough !== 'boolean') return `Lowers the peak by ${size}.`;
  const enough = most === '' ? 'enough' : 'which would be enough';
  return `Saves ${size}, ${isEnough ? `${enough} for this request` : 'not enough alone'}.`;
}

/** Of a remedy, or of one in a report. */
interface Gain {
  readonly id: RemedyId;
  readonly savesBytes: number | null | undefined;
  readonly isEnough: boolean | null | undefined;
  readonly soFar?: boolean | undefined;
}

export interface Forecast {
  /** Repetitions until memory is full; undefined if no limit is known. */
  readonly stepsLeft: number | undefined;
  readonly bytesPerStep: number;
  /** 'step', 'iteration in estimate_loss' */
  readonly unit: string;
}

/** severe: memory ran out. warning: it will, or is wasted. unknown: the file does not show it. */
export type VerdictTone = 'severe' | 'warning' | 'calm' | 'unknown';

export interface Verdict {
  readonly cause: Cause;
  readonly pattern: Pattern | undefined;
  readonly severity: Severity | 'none';
  /** The cause's bytes, at the account's moment. */
  readonly bytes: number;
  readonly tone: VerdictTone;
  /** One complete sentence. */
  readonly text: string;
  /** The same in about sixty characters. */
  readonly brief: string;
  /** Memory ran out at the process's own limit, not at the end of the GPU. */
  readonly isCapped: boolean;
  /** What else the reader should know: the failed request, a limit, what can't be known. */
  readonly also: readonly string[];
  /** The line to look at first, then its callers. */
  readonly lines: readonly FrameView[];
  /** What the first line does: 'keeps it', 'asked for it'. '' if unknown. */
  readonly does: string;
  /** Who holds it, if the recording has names: '`losses`, a list of 60 (train.py:301)'. */
  readonly holder: string | undefined;
  /** In the order to try. */
  readonly advice: readonly Remedy[];
  readonly forecast: Forecast | undefined;
  /** Fingerprint of the finding with more details. */
  readonly finding: string | undefined;
}

const PEAK_MAKERS: readonly (Pattern | undefined)[] = [
  'evaluation-without-no-grad',
  'waiting-graphs',
  'resident-data',
  'loaded-data',
  'piled-up',
  'retained-graph',
  'line-scratch',
  'larger-part',
  'untrained-part',
  'long-loop',
];

/** All lines of a function make it. */
export const OF_FUNCTION: readonly (Pattern | undefined)[] = ['resident-data', 'loaded-data'];

/** Harmless, but fixing it would lower the peak. */
export const isOnlyAdvice = ({ pattern, severity }: Pick<Verdict, 'pattern' | 'severity'>) =>
  PEAK_MAKERS.includes(pattern) && severity === 'low';

/** One check more: what sets the peak without being a finding, but the verdict may name it. */
export function peakCheck(verdict: Pick<Verdict, 'cause' | 'pattern' | 'severity'>) {
  const isFinding = verdict.pattern === 'evaluation-without-no-grad' && !isOnlyAdvice(verdict);
  const isFound = PEAK_MAKERS.includes(verdict.pattern) && !isFinding;
  if (verdict.cause !== 'none' && !isFound) return [];
  const status = isFound ? ('found' as const) : ('clear' as const);
  const reason = isFound
    ? 'the verdict says which.'
    : 'no data that the recording shows to stay, unused graph, scratch tensors of one line or single part takes so large a share that it sets the peak by itself, aside from what a training pass keeps for its backward and from workspaces of cuDNN and convolutions.';
  const works = isFound && !isOnlyAdvice(verdict) ? '' : ' of a run that works';
  const about = `data, passes, lines and parts that set the peak${works}`;
  return [{ about, status, reason }];
}
