/**
 * `vramscope.summary/1`: what one rank's snapshot says, in at most 64 kB whatever the snapshot's size.
 *
 * The shape is written once, as values that files are checked against; the types derive from it. Everything is plain
 * JSON. Unknown values are null, never 0; sizes are bytes, times microseconds. Curves keep their peaks. `leftOut` names
 * what did not fit, and totals accompany each list that was cut.
 */
import { COUNTER_NAMES, type CounterName, type Recording } from '../../allocator/replay/types.ts';

export const SUMMARY_SCHEMA = 'vramscope.summary/1';
/** Length of the JSON text in UTF-8. */
export const MAX_SUMMARY_BYTES = 64_000;
/** File names look like rank3.vramscope.json. */
export const SUMMARY_EXTENSION = 'vramscope.json';

/** 'number?' may also be null; `[shape]` is a list, `{ all: shape }` a dictionary. */
export type Shape =
  | 'string'
  | 'string?'
  | 'number'
  | 'number?'
  | 'boolean'
  | readonly [Shape]
  | { readonly all: Shape }
  | { readonly orNull: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

type ValueOf<S> = S extends 'string'
  ? string
  : S extends 'string?'
    ? string | null
    : S extends 'number'
      ? number
      : S extends 'number?'
        ? number | null
        : S extends 'boolean'
          ? boolean
          : S extends readonly [infer Item]
            ? readonly ValueOf<Item>[]
            : S extends { readonly all: infer Value }
              ? Readonly<Record<string, ValueOf<Value>>>
              : S extends { readonly orNull: infer Value }
                ? ValueOf<Value> | null
                : S extends { readonly fields: infer Fields }
                  ? { readonly [K in keyof Fields]: ValueOf<Fields[K]> }
                  : never;

const fields = <const F extends Readonly<Record<string, Shape>>>(own: F) => ({ fields: own });
const counters = <const S extends Shape>(shape: S) =>
  fields(Object.fromEntries(COUNTER_NAMES.map((name) => [name, shape])) as Record<CounterName, S>);

const FRAME = { orNull: fields({ file: 'string', line: 'number', name: 'string' }) };
/** Allocated bytes: freed memory that waits for a stream does not count. */
const SITE_FIGURES = {
  allocations: 'number',
  peakCount: 'number',
  peakBytes: 'number',
  endBytes: 'number',
} as const;
const CURVE = { allocatedBytes: ['number'], reservedBytes: ['number'] } as const;

export const SUMMARY_SHAPE = fields({
  vramscope: 'string',
  /** From `--rank`, or else from the snapshot's name; null if neither has it. */
  rank: 'number?',
  file: fields({
    name: 'string',
    bytes: 'number',
    container: 'string',
    protocol: 'number?',
    /** Why only part of the file was read; null if all of it was. */
    partial: 'string?',
  }),
  /** CUDA's number of the device that this describes: the one with the file's memory. */
  device: 'number',
  kind: 'string',
  recording: 'string',
  recordingReason: 'string',
  events: 'number',
  allocations: 'number',
  anomalies: 'number',
  /** The host's clock at the first event; null without times. */
  startUs: 'number?',
  durationUs: 'number?',
  start: counters('number?'),
  end: counters('number?'),
  peak: counters(fields({ bytes: 'number?', event: 'number' })),
  steps: {
    orNull: fields({
      count: 'number',
      source: 'string',
      description: 'string',
      /** Steps per point of the columns below: 1 unless there are more steps than points. */
      stepsPerPoint: 'number',
      /** Maximum in the step. */
      ...CURVE,
      /** Last event of each point's steps. */
      lastEvents: ['number'],
    }),
  },
  /** Maximum of each of a number of equal intervals of time, or of events if no times were recorded. */
  curve: fields({ unit: 'string', ...CURVE }),
  /** Live memory by class at the peak of allocated bytes; the largest first. */
  classes: [fields({ class: 'string', peakBytes: 'number' })],
  /** The largest at the peak first. */
  callSites: [
    fields({
      /** The same for the same Python stack on every rank and in every run: see `SiteKeys`. */
      key: 'string',
      /** Key of its line in `program`: several stacks can share a line. */
      line: 'string',
      /** The user line to look at first; null if no stack was recorded (`label` then says why). */
      frame: FRAME,
      label: 'string',
      /** The class of most of its bytes at the peak; null if it has none then. */
      class: 'string?',
      ...SITE_FIGURES,
    }),
  ],
  /** Totals of all sites that `callSites` leaves out. */
  otherSites: fields({ sites: 'number', ...SITE_FIGURES }),
  /**
   * The innermost line outside PyTorch of every stack, whatever path led there. Ranks that do the same work are
   * recognized by these: pipeline stages reach the same lines from different loops.
   */
  program: fields({
    count: 'number',
    /**
     * Keys of all lines, or the smallest keys if there are too many. Keys are hashes, so two ranks that ran the same
     * code keep the same ones, and the share of common lines stays correct.
     */
    keys: ['string'],
    /** Allocations at each line over the whole recording. */
    allocations: ['number'],
  }),
  annotations: [
    fields({ name: 'string', count: 'number', allocatedBytes: 'number', reservedBytes: 'number' }),
  ],
  settings: { all: 'string' },
  ooms: [
    fields({
      event: 'number',
      /** Index into `steps`, from 0; null if no steps were found. */
      step: 'number?',
      timeUs: 'number?',
      requestedBytes: 'number',
      deviceFreeBytes: 'number?',
      /** The allocator retried immediately, so the program saw no error. */
      wasRetried: 'boolean',
    }),
  ],
  oomCount: 'number',
  verdict: { orNull: fields({ tone: 'string', text: 'string' }) },
  findings: [
    fields({
      detector: 'string',
      kind: 'string',
      severity: 'string',
      bytes: 'number',
      claim: 'string',
      frame: FRAME,
      perStep: { orNull: fields({ bytes: 'number', count: 'number', steps: 'number' }) },
      /** Keys of the call sites that hold its memory. */
      sites: ['string'],
    }),
  ],
  warnings: [fields({ code: 'string', message: 'string' })],
  /** In words, one per list that was cut. Empty if everything fit. */
  leftOut: ['string'],
});

export type RankSummary = ValueOf<typeof SUMMARY_SHAPE> & {
  readonly schema: typeof SUMMARY_SCHEMA;
  readonly kind: 'cuda' | 'host';
  readonly recording: Recording;
  readonly curve: { readonly unit: 'time' | 'event' };
};

export type SiteFigures = ValueOf<{ readonly fields: typeof SITE_FIGURES }>;
export type SummarySite = RankSummary['callSites'][number];
export type SummaryFinding = RankSummary['findings'][number];
