/** The verdict: what the memory went to that should not be there, or that there is most of; and what to try. */
import type { FrameView } from '../../device/model/types.ts';
import type { EntryKind } from '../account/types.ts';
import type { Severity } from '../findings/types.ts';

/** The kind of an entry of the account, or what no single entry shows. */
export type Cause =
  | EntryKind
  /** Parameters, gradients and optimizer state together. */
  | 'model-state'
  /** One request that is a large part of all. */
  | 'request'
  /** Free memory in pieces that are too small. */
  | 'fragmentation'
  | 'other-processes'
  | 'none'
  | 'unknown';

/** Of these the lines lead to the first; of others they stand side by side, the one that holds most first. */
const CALLED: readonly Cause[] = ['kept', 'kept-graph', 'request'];

/** Lines of the same function as the first, which keep something too, and then those that call it. */
export function otherLines<Line extends { readonly name: string }>(
  cause: Cause,
  [first, ...others]: readonly Line[],
): { readonly beside: readonly Line[]; readonly callers: readonly Line[] } {
  if (!CALLED.includes(cause)) return { beside: [], callers: [] };
  const isBeside = cause === 'kept-graph' && others[0]?.name === first?.name;
  return isBeside
    ? { beside: others.slice(0, 1), callers: others.slice(1) }
    : { beside: [], callers: others };
}

/** What programs are known to do; it decides the words and what helps first. */
export type Pattern =
  | 'evaluation-gathers'
  | 'state-not-detached'
  | 'first-optimizer-step'
  | 'whole-graph'
  | 'logits-in-loss'
  | 'kept-exceptions'
  | 'kept-optimizers'
  | 'kept-by-hook'
  | 'unbounded-cache'
  | 'larger-batch'
  | 'evaluation-without-no-grad'
  | 'stepped-up'
  | 'segments-retaken';

/** Stable names of what can be tried. */
export type RemedyId =
  | 'batch-size'
  | 'checkpointing'
  | 'lower-precision'
  | 'optimizer-8bit'
  | 'shard'
  | 'offload'
  | 'adapters'
  | 'detach'
  | 'no-grad'
  | 'to-cpu'
  | 'chunked-loss'
  | 'one-tensor'
  | 'sampling'
  | 'bound-cache'
  | 'clear-exceptions'
  | 'remove-hook'
  | 'reuse-optimizer'
  | 'share-model'
  | 'expandable-segments'
  | 'repeat-sizes'
  | 'wait-for-streams'
  | 'raise-limit'
  | 'free-the-device'
  | 'check-batch'
  | 'record-more';

export interface Remedy {
  readonly id: RemedyId;
  /** What to do, in a sentence or two. */
  readonly text: string;
  /** Bytes that it gives back at the moment of the account; undefined where that cannot be known. */
  readonly savesBytes: number | undefined;
  /** At an OOM: whether the request would have fit. Undefined without an OOM, or where that cannot be known. */
  readonly isEnough: boolean | undefined;
}

/** Where what grows leads to. */
export interface Forecast {
  /** Repetitions until the memory that is left is full; undefined where no limit is known. */
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
  /** Of the cause, at the moment of the account. */
  readonly bytes: number;
  readonly tone: VerdictTone;
  /** One sentence, whole. */
  readonly text: string;
  /** The same in some sixty characters. */
  readonly brief: string;
  /** What the reader should know beside it: the request that failed, a limit, what cannot be known. */
  readonly also: readonly string[];
  /** The line to look at first, then who calls it. */
  readonly lines: readonly FrameView[];
  /** What the first line does: 'keeps it', 'asked for it'. '' where that is not known. */
  readonly does: string;
  /** Who holds it, where the recording has names: '`losses`, a list of 60 (train.py:301)'. */
  readonly holder: string | undefined;
  /** In the order to try. */
  readonly advice: readonly Remedy[];
  readonly forecast: Forecast | undefined;
  /** Fingerprint of the finding that shows more of it. */
  readonly finding: string | undefined;
}
