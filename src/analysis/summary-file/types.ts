/**
 * `vramscope.summary/1`: what one rank's snapshot says, in at most 64 kB whatever the snapshot's size.
 *
 * Everything is plain JSON. Unknown values are null, never 0; sizes are bytes, times microseconds. Curves keep their peaks. `leftOut` names
 * what did not fit, and totals accompany each list that was cut.
 */
import * as z from 'zod/mini';
import { COUNTER_NAMES, type CounterName, type Recording } from '../../allocator/replay/types.ts';

export const SUMMARY_SCHEMA = 'vramscope.summary/1';
/** Length of the JSON text in UTF-8. */
export const MAX_SUMMARY_BYTES = 64_000;
/** File names look like rank3.vramscope.json. */
export const SUMMARY_EXTENSION = 'vramscope.json';

// Compiled checks need eval, which the page's policy forbids.
z.config({ jitless: true });

const text = z.string();
/** Beyond 2^53 sums would not be exact. JSON has no NaN or Infinity, but 1e999 is read as Infinity. */
const number = z.number().check(z.gte(Number.MIN_SAFE_INTEGER), z.lte(Number.MAX_SAFE_INTEGER));
const numbers = z.array(number);
const list = <F extends z.core.$ZodShape>(fields: F) => z.array(z.object(fields));
const counters = <S extends z.ZodMiniType>(shape: S) =>
  z.object(
    Object.fromEntries(COUNTER_NAMES.map((name) => [name, shape])) as Record<CounterName, S>,
  );

const FRAME = z.nullable(z.object({ file: text, line: number, name: text }));
/** Allocated bytes: freed memory that waits for a stream does not count. */
const SITE_FIGURES = {
  allocations: number,
  peakCount: number,
  peakBytes: number,
  endBytes: number,
} as const;
const CURVE = { allocatedBytes: numbers, reservedBytes: numbers } as const;

export const SUMMARY = z.object({
  vramscope: text,
  /** From `--rank`, or else from the snapshot's name; null if neither has it. */
  rank: z.nullable(number),
  file: z.object({
    name: text,
    bytes: number,
    container: text,
    protocol: z.nullable(number),
    /** Why only part of the file was read; null if all of it was. */
    partial: z.nullable(text),
  }),
  /** CUDA's number of the device that this describes: the one with the file's memory. */
  device: number,
  kind: text,
  recording: text,
  recordingReason: text,
  events: number,
  allocations: number,
  anomalies: number,
  /** The host's clock at the first event; null without times. */
  startUs: z.nullable(number),
  durationUs: z.nullable(number),
  start: counters(z.nullable(number)),
  end: counters(z.nullable(number)),
  peak: counters(z.object({ bytes: z.nullable(number), event: number })),
  steps: z.nullable(
    z.object({
      count: number,
      source: text,
      description: text,
      /** Steps per point of the columns below: 1 unless there are more steps than points. */
      stepsPerPoint: number,
      /** Maximum in the step. */
      ...CURVE,
      /** Last event of each point's steps. */
      lastEvents: numbers,
    }),
  ),
  /** Maximum of each of a number of equal intervals of time, or of events if no times were recorded. */
  curve: z.object({ unit: text, ...CURVE }),
  /** Live memory by class at the peak of allocated bytes; the largest first. */
  classes: list({ class: text, peakBytes: number }),
  /** The largest at the peak first. */
  callSites: list({
    /** The same for the same Python stack on every rank and in every run: see `SiteKeys`. */
    key: text,
    /** Key of its line in `program`: several stacks can share a line. */
    line: text,
    /** The user line to look at first; null if no stack was recorded (`label` then says why). */
    frame: FRAME,
    label: text,
    /** The class of most of its bytes at the peak; null if it has none then. */
    class: z.nullable(text),
    ...SITE_FIGURES,
  }),
  /** Totals of all sites that `callSites` leaves out. */
  otherSites: z.object({ sites: number, ...SITE_FIGURES }),
  /**
   * The innermost line outside PyTorch of every stack, whatever path led there. Ranks that do the same work are
   * recognized by these: pipeline stages reach the same lines from different loops.
   */
  program: z.object({
    count: number,
    /**
     * Keys of all lines, or the smallest keys if there are too many. Keys are hashes, so two ranks that ran the same
     * code keep the same ones, and the share of common lines stays correct.
     */
    keys: z.array(text),
    /** Allocations at each line over the whole recording. */
    allocations: numbers,
  }),
  annotations: list({ name: text, count: number, allocatedBytes: number, reservedBytes: number }),
  settings: z.record(z.string(), text),
  ooms: list({
    event: number,
    /** Index into `steps`, from 0; null if no steps were found. */
    step: z.nullable(number),
    timeUs: z.nullable(number),
    requestedBytes: number,
    deviceFreeBytes: z.nullable(number),
    /** The allocator retried immediately, so the program saw no error. */
    wasRetried: z.boolean(),
  }),
  oomCount: number,
  verdict: z.nullable(z.object({ tone: text, text })),
  findings: list({
    detector: text,
    kind: text,
    severity: text,
    bytes: number,
    claim: text,
    frame: FRAME,
    perStep: z.nullable(
      z.object({ bytes: number, count: number, steps: number, unit: z.optional(text) }),
    ),
    /** Keys of the call sites that hold its memory. */
    sites: z.array(text),
  }),
  warnings: list({ code: text, message: text }),
  /** In words, one per list that was cut. Empty if everything fit. */
  leftOut: z.array(text),
});

export type RankSummary = z.infer<typeof SUMMARY> & {
  readonly schema: typeof SUMMARY_SCHEMA;
  readonly kind: 'cuda' | 'host';
  readonly recording: Recording;
  readonly curve: { readonly unit: 'time' | 'event' };
};

export type SiteFigures = Pick<SummarySite, keyof typeof SITE_FIGURES>;
export type SummarySite = RankSummary['callSites'][number];
export type SummaryFinding = RankSummary['findings'][number];
