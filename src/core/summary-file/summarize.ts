/** One rank's snapshot as a summary of at most 64 kB. */
import { plural } from '../base/format.ts';
import { classTotalsAt } from '../classes/class-totals.ts';
import { MEMORY_CLASSES } from '../classes/types.ts';
import { groupAnnotations } from '../device/annotation-groups.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { deviceInfo } from '../device/device-info.ts';
import { mainDeviceIndex } from '../device/main-device.ts';
import type { DeviceInfo, FrameView } from '../device/types.ts';
import { type Analysis, analyseContext } from '../findings/analyse.ts';
import { AnalysisContext } from '../findings/analysis-context.ts';
import type { Finding } from '../findings/detectors.ts';
import type { StepSequence } from '../findings/steps/step-sequence.ts';
import { verdictOf } from '../findings/verdict.ts';
import { settingText } from '../memory-summary/settings.ts';
import { CounterBlocks } from '../raster/counter-blocks.ts';
import { COUNTER_NAMES, type CounterName, type Counters } from '../replay/types.ts';
import type { FileInfo } from '../snapshot/tables.ts';
import { curveOf, stepCurve } from './curves.ts';
import { rankOfName } from './rank-of-name.ts';
import { SiteKeys } from './site-keys.ts';
import { classId, type SiteRow, siteRows, sumOf } from './site-rows.ts';
import {
  MAX_SUMMARY_BYTES,
  type ProgramLines,
  type RankSummary,
  SUMMARY_SCHEMA,
  type SummaryAnnotation,
  type SummaryFinding,
  type SummaryFrame,
  type SummaryOom,
  type SummarySite,
} from './types.ts';

export interface SummarizeOptions {
  /** Of vramscope. */
  readonly version: string;
  /** Undefined: as the file's name says. */
  readonly rank?: number | undefined;
}

/** How much of each list is kept: lowered until the text fits. */
interface Room {
  readonly sites: number;
  readonly lines: number;
  readonly points: number;
  readonly annotations: number;
  readonly findings: number;
  readonly ooms: number;
  readonly settings: number;
  readonly letters: number;
}

const ROOM: Room = {
  sites: 150,
  lines: 1000,
  points: 240,
  annotations: 40,
  findings: 12,
  ooms: 24,
  settings: 60,
  letters: 400,
};
/** No list is cut below this many entries. */
const LEAST = 4;

/**
 * The device with the file's memory, in at most `MAX_SUMMARY_BYTES` of JSON.
 * `contexts` are those of all devices of one snapshot.
 */
export async function summarize(
  file: FileInfo,
  contexts: readonly DeviceContext[],
  options: SummarizeOptions,
): Promise<RankSummary> {
  const infos = contexts.map((one, i) => deviceInfo(one, i));
  const main = mainDeviceIndex(infos);
  const context = contexts[main];
  const analysisContext = new AnalysisContext(context);
  const analysis = await analyseContext(analysisContext);
  const source = new SummarySource(file, context, infos[main], analysisContext, analysis, options);
  let room = ROOM;
  for (;;) {
    const summary = source.summaryIn(room);
    if (bytesOf(summary) <= MAX_SUMMARY_BYTES || isLeast(room)) return summary;
    room = lessThan(room);
  }
}

/** The JSON that is written to a file. */
export const summaryText = (summary: RankSummary): string => `${JSON.stringify(summary)}\n`;

const bytesOf = (summary: RankSummary): number =>
  new TextEncoder().encode(summaryText(summary)).length;

const isLeast = (room: Room): boolean => Object.values(room).every((limit) => limit <= LEAST);

function lessThan(room: Room): Room {
  const less = (limit: number) => Math.max(LEAST, Math.floor(limit * 0.7));
  return {
    sites: less(room.sites),
    lines: less(room.lines),
    points: less(room.points),
    annotations: less(room.annotations),
    findings: less(room.findings),
    ooms: less(room.ooms),
    settings: less(room.settings),
    letters: less(room.letters),
  };
}

class SummarySource {
  readonly #file: FileInfo;
  readonly #context: DeviceContext;
  readonly #info: DeviceInfo;
  readonly #analysisContext: AnalysisContext;
  readonly #analysis: Analysis;
  readonly #options: SummarizeOptions;
  readonly #keys: SiteKeys;
  readonly #sites: readonly SiteRow[];
  readonly #lines: ReadonlyMap<string, number>;
  readonly #classes: RankSummary['classes'];
  readonly #annotations: readonly SummaryAnnotation[];

  constructor(
    file: FileInfo,
    context: DeviceContext,
    info: DeviceInfo,
    analysisContext: AnalysisContext,
    analysis: Analysis,
    options: SummarizeOptions,
  ) {
    this.#file = file;
    this.#context = context;
    this.#info = info;
    this.#analysisContext = analysisContext;
    this.#analysis = analysis;
    this.#options = options;
    this.#keys = new SiteKeys(context.snapshot, context.stacks);
    this.#sites = siteRows(context, this.#keys, info.peaks.allocatedBytes.event);
    this.#lines = linesOf(this.#sites);
    this.#classes = classTotalsAt(context, info.peaks.allocatedBytes.event, true).map(
      ({ class: own, bytes }) => ({ class: MEMORY_CLASSES[own].id, peakBytes: bytes }),
    );
    this.#annotations = annotationPeaks(context);
  }

  summaryIn(room: Room): RankSummary {
    const { snapshot, trace } = this.#context;
    const info = this.#info;
    const { letters } = room;
    const [sequence] = this.#analysisContext.stepSequences;
    const steps = sequence === undefined ? null : this.#steps(sequence, room.points);
    const { findings } = this.#analysis;
    const settings = Object.entries(snapshot.settings);
    const verdict = verdictOf(this.#analysis);
    const warnings = snapshot.warnings.slice(0, 8);
    return {
      schema: SUMMARY_SCHEMA,
      vramscope: this.#options.version,
      rank: this.#options.rank ?? rankOfName(this.#file.name) ?? null,
      file: {
        name: cut(this.#file.name, letters),
        bytes: this.#file.bytes,
        container: this.#file.container,
        protocol: this.#file.protocol ?? null,
        partial: this.#file.partial ?? null,
      },
      device: info.device,
      kind: info.kind,
      recording: info.recording,
      recordingReason: cut(info.recordingReason, letters),
      events: info.events,
      allocations: info.allocations,
      anomalies: info.anomalies,
      startUs: known(trace.events.timeUs?.[0]),
      durationUs: info.hasTime ? info.durationUs : null,
      start: nullable(info.start),
      end: nullable(info.end),
      peak: byCounter((name) => ({
        bytes: known(info.peaks[name].bytes),
        event: info.peaks[name].event,
      })),
      steps,
      curve: curveOf(this.#context, room.points),
      classes: this.#classes,
      callSites: this.#sites.slice(0, room.sites).map((site) => this.#site(site, letters)),
      otherSites: {
        sites: Math.max(0, this.#sites.length - room.sites),
        ...sumOf(...this.#sites.slice(room.sites)),
      },
      program: programLines(this.#lines, room.lines),
      annotations: this.#annotations
        .slice(0, room.annotations)
        .map((one) => ({ ...one, name: cut(one.name, letters) })),
      settings: Object.fromEntries(
        settings
          .slice(0, room.settings)
          .map(([name, value]) => [cut(name, letters), cut(settingText(value), letters)]),
      ),
      ooms: info.ooms.slice(0, room.ooms).map((oom) => this.#oom(oom, sequence)),
      oomCount: info.ooms.length,
      verdict:
        verdict === undefined
          ? null
          : { tone: verdict.tone, text: cut([verdict.text, ...verdict.also].join(' '), letters) },
      findings: findings.slice(0, room.findings).map((finding) => this.#finding(finding, letters)),
      warnings: warnings.map(({ code, message }) => ({ code, message: cut(message, letters) })),
      leftOut: leftOut([
        ['call site', this.#sites.length - room.sites, 'summed up in otherSites'],
        ['line', this.#lines.size - room.lines, 'of those that only tell roles apart'],
        ['annotation', this.#annotations.length - room.annotations, ''],
        ['setting', settings.length - room.settings, ''],
        ['out-of-memory event', info.ooms.length - room.ooms, ''],
        ['finding', findings.length - room.findings, ''],
        ['warning', snapshot.warnings.length - warnings.length, ''],
      ]),
    };
  }

  #steps(sequence: StepSequence, points: number): RankSummary['steps'] {
    return {
      count: sequence.bounds.length - 1,
      source: sequence.source,
      description: cut(sequence.description, 200),
      ...stepCurve(this.#context, sequence.bounds, points),
    };
  }

  #site(site: SiteRow, letters: number): SummarySite {
    const { key, line, stack, first, allocations, peakCount, peakBytes, endBytes } = site;
    const isFromBefore = first < this.#context.replay.allocations.preexisting;
    return {
      key,
      line,
      frame: frameOf(this.#context.stacks.topUserFrameView(stack), letters),
      label: cut(this.#keys.labelOf(stack, isFromBefore), letters),
      class: classId(site),
      allocations,
      peakCount,
      peakBytes,
      endBytes,
    };
  }

  #oom(oom: DeviceInfo['ooms'][number], sequence: StepSequence | undefined): SummaryOom {
    return {
      event: oom.event,
      step: sequence === undefined ? null : stepOf(sequence, oom.event),
      timeUs: known(oom.timeUs),
      requestedBytes: oom.requestedBytes,
      deviceFreeBytes: known(oom.deviceFreeBytes),
      wasRetried: oom.wasRetried,
    };
  }

  #finding(finding: Finding, letters: number): SummaryFinding {
    // Stacks of findings are rows of the analysis' own table, in which there is no C++.
    const { snapshot, stacks } = this.#analysisContext.input;
    const keys = snapshot.stacks === this.#context.snapshot.stacks ? this.#keys : undefined;
    const own = keys ?? new SiteKeys(snapshot, stacks);
    const rows = new Set(finding.parts.map(({ stack }) => stack));
    return {
      detector: finding.detector,
      kind: finding.kind,
      severity: finding.severity,
      bytes: finding.bytes,
      claim: cut(finding.claim, letters),
      frame: frameOf(finding.frame, letters),
      perStep: finding.perStep ?? null,
      sites: [...rows].slice(0, 20).map((stack) => own.keyOf(stack)),
    };
  }
}

/** The step of an event; what comes after the last one is a step that did not end. */
function stepOf({ bounds }: StepSequence, event: number): number {
  let step = 0;
  while (step < bounds.length - 1 && event > bounds[step + 1]) step++;
  return step;
}

function linesOf(sites: readonly SiteRow[]): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const { line, allocations } of sites) {
    lines.set(line, (lines.get(line) ?? 0) + allocations);
  }
  return new Map([...lines].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function programLines(lines: ReadonlyMap<string, number>, limit: number): ProgramLines {
  return {
    count: lines.size,
    keys: [...lines.keys()].slice(0, limit),
    allocations: [...lines.values()].slice(0, limit),
  };
}

function annotationPeaks(context: DeviceContext): SummaryAnnotation[] {
  const spans = context.annotations();
  if (spans.length === 0) return [];
  const { replay, trace } = context;
  const blocks = new Map<CounterName, CounterBlocks>();
  const maximum = (name: CounterName) => {
    const known = blocks.get(name) ?? new CounterBlocks(replay, name, trace.events.length);
    blocks.set(name, known);
    return known;
  };
  return groupAnnotations(spans, replay, maximum).map(({ name, count, peaks }) => ({
    name,
    count,
    allocatedBytes: peaks.allocatedBytes.bytes,
    reservedBytes: peaks.reservedBytes.bytes,
  }));
}

function leftOut(lists: readonly (readonly [string, number, string])[]): string[] {
  return lists
    .filter(([, count]) => count > 0)
    .map(([noun, count, how]) => `${plural(count, noun)}${how === '' ? '' : ` (${how})`}`);
}

function frameOf(frame: FrameView | undefined, letters: number): SummaryFrame | null {
  if (frame === undefined) return null;
  const { filename, line, name } = frame;
  return { file: cutStart(filename, letters), line, name: cut(name, letters) };
}

const known = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

const nullable = (counters: Counters): RankSummary['end'] =>
  byCounter((name) => known(counters[name]));

function byCounter<T>(value: (name: CounterName) => T): { readonly [K in CounterName]: T } {
  return Object.fromEntries(COUNTER_NAMES.map((name) => [name, value(name)])) as {
    [K in CounterName]: T;
  };
}

const cut = (text: string, letters: number): string =>
  text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;

/** Of a path what is at its end tells files apart. */
const cutStart = (text: string, letters: number): string =>
  text.length <= letters ? text : `…${text.slice(1 - letters)}`;
