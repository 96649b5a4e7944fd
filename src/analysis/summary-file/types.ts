/**
 * `vramscope.summary/1`: what one rank's snapshot says, in at most 64 kB whatever the snapshot's size.
 *
 * Written once, as values: a file is checked against it, and the types are made of it. All of it is plain JSON.
 * What is not known is null, never 0; bytes are bytes, times microseconds. Curves keep their peaks. What did not
 * fit is named in `leftOut`, and sums over everything stand beside each list that was cut.
 */
import { COUNTER_NAMES, type CounterName, type Recording } from '../../allocator/replay/types.ts';

export const SUMMARY_SCHEMA = 'vramscope.summary/1';
/** Of the JSON text, in UTF-8. */
export const MAX_SUMMARY_BYTES = 64_000;
/** What files with summaries are called: rank3.vramscope.json. */
export const SUMMARY_EXTENSION = 'vramscope.json';

/** 'number?' may be null too; `[shape]` is a list, `{ all: shape }` a dictionary. */
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

/** The values that a shape lets through. */
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
/** Of allocated bytes: what is freed and waits for a stream does not count. */
const SITE_FIGURES = {
  allocations: 'number',
  peakCount: 'number',
  peakBytes: 'number',
  endBytes: 'number',
} as const;
const CURVE = { allocatedBytes: ['number'], reservedBytes: ['number'] } as const;

export const SUMMARY_SHAPE = fields({
  /** Version of vramscope that wrote it. */
  vramscope: 'string',
  /** Set by `--rank`, else read from the snapshot's name; null where neither says it. */
  rank: 'number?',
  file: fields({
    name: 'string',
    bytes: 'number',
    container: 'string',
    protocol: 'number?',
    /** Why only a part of the file was read; null where all of it was. */
    partial: 'string?',
  }),
  /** CUDA's number of the device that the file is about: the one with its memory. */
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
      /** Steps to a point of the columns below: 1 unless there are more steps than points. */
      stepsPerPoint: 'number',
      /** Highest in the step. */
      ...CURVE,
      /** Last event of each point's steps. */
      lastEvents: ['number'],
    }),
  },
  /** Highest in each of some equal stretches of time, or of events where no times were recorded. */
  curve: fields({ unit: 'string', ...CURVE }),
  /** What live memory is, at the peak of allocated bytes; the largest first. */
  classes: [fields({ class: 'string', peakBytes: 'number' })],
  /** The largest at the peak first. */
  callSites: [
    fields({
      /** The same for the same Python stack on every rank and in every run: see `SiteKeys`. */
      key: 'string',
      /** Key of its line in `program`: several stacks lead through one line. */
      line: 'string',
      /** The user's own line to look at first; null where no stack was recorded, and then `label` says why. */
      frame: FRAME,
      label: 'string',
      /** What most of its bytes at the peak are; null where none stand there. */
      class: 'string?',
      ...SITE_FIGURES,
    }),
  ],
  /** All that `callSites` does not list, as one. */
  otherSites: fields({ sites: 'number', ...SITE_FIGURES }),
  /**
   * The innermost line outside of PyTorch of every stack, whichever way led to it, by which ranks that do the same
   * are recognized: the stages of a pipeline reach the same lines from different loops.
   */
  program: fields({
    /** How many different lines there are. */
    count: 'number',
    /**
     * Keys of all lines, or of those with the smallest keys: as keys are hashes, two ranks that ran the same
     * code keep the same ones, and the share of lines that they have in common stays true.
     */
    keys: ['string'],
    /** Allocations of each over the whole recording. */
    allocations: ['number'],
  }),
  annotations: [
    fields({ name: 'string', count: 'number', allocatedBytes: 'number', reservedBytes: 'number' }),
  ],
  settings: { all: 'string' },
  ooms: [
    fields({
      event: 'number',
      /** Of `steps`, counted from 0; null where no steps were found. */
      step: 'number?',
      timeUs: 'number?',
      requestedBytes: 'number',
      deviceFreeBytes: 'number?',
      /** The program asked again at once, and saw no error. */
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
  /** In words, one a list that was cut. Empty where everything fit. */
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
