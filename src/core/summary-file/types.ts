/**
 * `vramscope.summary/1`: what one rank's snapshot says, in at most 64 kB whatever the snapshot's size.
 *
 * All of it is plain JSON. What is not known is null, never 0; bytes are bytes, times microseconds. Curves keep
 * their peaks. What did not fit is named in `leftOut`, and sums over everything stand beside each list that was cut.
 */
import type { CounterName, Recording } from '../replay/types.ts';

export const SUMMARY_SCHEMA = 'vramscope.summary/1';
/** Of the JSON text, in UTF-8. */
export const MAX_SUMMARY_BYTES = 64_000;
/** What files with summaries are called: rank3.vramscope.json. */
export const SUMMARY_EXTENSION = 'vramscope.json';

export interface RankSummary {
  readonly schema: typeof SUMMARY_SCHEMA;
  /** Version of vramscope that wrote it. */
  readonly vramscope: string;
  /** Set by `--rank`, else read from the snapshot's name; null where neither says it. */
  readonly rank: number | null;
  readonly file: SummaryFile;
  /** CUDA's number of the device that the file is about: the one with its memory. */
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  readonly recording: Recording;
  readonly recordingReason: string;
  readonly events: number;
  readonly allocations: number;
  readonly anomalies: number;
  /** The host's clock at the first event; null without times. */
  readonly startUs: number | null;
  readonly durationUs: number | null;
  readonly start: NullableCounters;
  readonly end: NullableCounters;
  readonly peak: { readonly [K in CounterName]: SummaryPeak };
  readonly steps: SummarySteps | null;
  /** Highest in each of some equal stretches of time, or of events where no times were recorded. */
  readonly curve: SummaryCurve;
  /** What live memory is, at the peak of allocated bytes; the largest first. */
  readonly classes: readonly SummaryClass[];
  /** The largest at the peak first. */
  readonly callSites: readonly SummarySite[];
  /** All that `callSites` does not list, as one. */
  readonly otherSites: SiteFigures & { readonly sites: number };
  /** The lines that allocate, by which ranks that do the same are recognized. */
  readonly program: ProgramLines;
  readonly annotations: readonly SummaryAnnotation[];
  readonly settings: Readonly<Record<string, string>>;
  readonly ooms: readonly SummaryOom[];
  readonly oomCount: number;
  readonly verdict: { readonly tone: string; readonly text: string } | null;
  readonly findings: readonly SummaryFinding[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  /** In words, one a list that was cut. Empty where everything fit. */
  readonly leftOut: readonly string[];
}

export interface SummaryFile {
  readonly name: string;
  readonly bytes: number;
  readonly container: string;
  readonly protocol: number | null;
  /** Why only a part of the file was read; null where all of it was. */
  readonly partial: string | null;
}

export type NullableCounters = { readonly [K in CounterName]: number | null };

export interface SummaryPeak {
  readonly bytes: number | null;
  readonly event: number;
}

export interface SummarySteps {
  readonly count: number;
  readonly source: string;
  readonly description: string;
  /** Steps to a point of the columns below: 1 unless there are more steps than points. */
  readonly stepsPerPoint: number;
  /** Highest in the step. */
  readonly allocatedBytes: readonly number[];
  readonly reservedBytes: readonly number[];
  /** Last event of each point's steps. */
  readonly lastEvents: readonly number[];
}

export interface SummaryCurve {
  readonly unit: 'time' | 'event';
  readonly allocatedBytes: readonly number[];
  readonly reservedBytes: readonly number[];
}

export interface SummaryClass {
  readonly class: string;
  readonly peakBytes: number;
}

export interface SummaryFrame {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

/** Of allocated bytes: what is freed and waits for a stream does not count. */
export interface SiteFigures {
  readonly allocations: number;
  readonly peakCount: number;
  readonly peakBytes: number;
  readonly endBytes: number;
}

export interface SummarySite extends SiteFigures {
  /** The same for the same Python stack on every rank and in every run: see `SiteKeys`. */
  readonly key: string;
  /** Key of its line in `program`: several stacks lead through one line. */
  readonly line: string;
  /** The user's own line to look at first; null where no stack was recorded, and then `label` says why. */
  readonly frame: SummaryFrame | null;
  readonly label: string;
  /** What most of its bytes at the peak are; null where none stand there. */
  readonly class: string | null;
}

/**
 * The innermost line outside of PyTorch of every stack, whichever way led to it: the stages of a pipeline reach
 * the same lines from different loops.
 */
export interface ProgramLines {
  /** How many different lines there are. */
  readonly count: number;
  /**
   * Keys of all lines, or of those with the smallest keys: as keys are hashes, two ranks that ran the same
   * code keep the same ones, and the share of lines that they have in common stays true.
   */
  readonly keys: readonly string[];
  /** Allocations of each over the whole recording. */
  readonly allocations: readonly number[];
}

export interface SummaryAnnotation {
  readonly name: string;
  readonly count: number;
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
}

export interface SummaryOom {
  readonly event: number;
  /** Of `steps`, counted from 0; null where no steps were found. */
  readonly step: number | null;
  readonly timeUs: number | null;
  readonly requestedBytes: number;
  readonly deviceFreeBytes: number | null;
  /** The program asked again at once, and saw no error. */
  readonly wasRetried: boolean;
}

export interface SummaryFinding {
  readonly detector: string;
  readonly kind: string;
  readonly severity: string;
  readonly bytes: number;
  readonly claim: string;
  readonly frame: SummaryFrame | null;
  readonly perStep: {
    readonly bytes: number;
    readonly count: number;
    readonly steps: number;
  } | null;
  /** Keys of the call sites that hold its memory. */
  readonly sites: readonly string[];
}
