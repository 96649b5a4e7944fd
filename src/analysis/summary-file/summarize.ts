/** Summarizes one rank's snapshot in at most 64 kB. */

import { type CounterName, perCounter } from '../../allocator/replay/types.ts';
import { addUp, memoized } from '../../base/collections.ts';
import { plural } from '../../base/format.ts';
import { LoadError } from '../../base/load-error.ts';
import { jsonText } from '../../base/unprintable.ts';
import { classTotalsAt } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import { settingText } from '../../device/memory-summary/settings.ts';
import { groupAnnotations, isRecorded } from '../../device/model/annotation-groups.ts';
import { deviceInfo } from '../../device/model/device-info.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import { mainDeviceIndex } from '../../device/model/main-device.ts';
import type { FrameView } from '../../device/model/types.ts';
import { CounterBlocks } from '../../draw/timeline/counter-blocks.ts';
import type { FileInfo } from '../../format/snapshot/tables.ts';
import { analyseContext } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import type { Finding } from '../findings/detectors.ts';
import { stepOf } from '../steps/step-sequence.ts';
import { curveOf, stepCurve } from './curves.ts';
import { rankOfName } from './rank-of-name.ts';
import { classId, SiteKeys, type SiteRow, siteRows, sumOf } from './sites.ts';
import {
  MAX_SUMMARY_BYTES,
  type RankSummary,
  SUMMARY_SCHEMA,
  type SummaryFinding,
  type SummarySite,
} from './types.ts';

export interface SummarizeOptions {
  readonly version: string;
  /** If undefined, the file's name decides. */
  readonly rank?: number | undefined;
}

/** How much of each list to keep; reduced until the text fits. */
const LIMITS = {
  sites: 150,
  lines: 1000,
  points: 240,
  annotations: 40,
  findings: 12,
  ooms: 24,
  settings: 60,
  letters: 400,
};
type Room = Readonly<typeof LIMITS>;
/** No list is cut below this many entries. */
const MIN_ENTRIES = 4;

function roomOf(share: number): Room {
  const less = Object.entries(LIMITS).map(([name, limit]) => {
    return [name, Math.max(MIN_ENTRIES, Math.floor(limit * share))] as const;
  });
  return Object.fromEntries(less) as Room;
}

/**
 * Summarizes the device with the file's memory, in at most `MAX_SUMMARY_BYTES` of JSON.
 * `contexts`: all devices of one snapshot.
 * @throws LoadError 'no-device' if there is none
 */
export async function summarize(
  file: FileInfo,
  contexts: readonly DeviceModel[],
  options: SummarizeOptions,
): Promise<RankSummary> {
  const facts = await factsOf(contexts);
  for (let share = 1; ; share *= 0.7) {
    const room = roomOf(share);
    const summary = summaryIn(room, facts, file, options);
    const isLeast = Object.values(room).every((limit) => limit === MIN_ENTRIES);
    if (isLeast || bytesOf(summary) <= MAX_SUMMARY_BYTES) return summary;
  }
}

export const summaryText = (summary: RankSummary): string => `${jsonText(summary, 0)}\n`;

const bytesOf = (summary: RankSummary): number =>
  new TextEncoder().encode(summaryText(summary)).length;

/** Everything that doesn't depend on the room. */
async function factsOf(contexts: readonly DeviceModel[]) {
  const infos = contexts.map((one, i) => deviceInfo(one, i));
  const main = mainDeviceIndex(infos);
  const [context, info] = [contexts[main], infos[main]];
  if (context === undefined) {
    throw new LoadError({
      code: 'no-device',
      message: 'The snapshot has no device, so there is nothing to summarize.',
      advice: 'Check that the process used a GPU.',
    });
  }
  const analysisContext = new AnalysisInput(context);
  const { findings, verdict } = await analyseContext(analysisContext);
  const peak = info.peaks.allocatedBytes.event;
  const keys = new SiteKeys(context.snapshot, context.stacks);
  const { input } = analysisContext;
  const isSameTable = input.snapshot.stacks === context.snapshot.stacks;
  const sites = siteRows(context, keys, peak);
  return {
    context,
    info,
    keys,
    sites,
    // Findings use stack rows of the analysis's own table, which has no C++.
    findingKeys: isSameTable ? keys : new SiteKeys(input.snapshot, input.stacks),
    steps: analysisContext.stepSequences[0],
    ...{ findings, verdict, lines: linesOf(sites) },
    classes: classTotalsAt(context, peak, true),
    annotations: annotationPeaks(context),
  };
}
type Facts = Awaited<ReturnType<typeof factsOf>>;

function summaryIn(
  room: Room,
  facts: Facts,
  file: FileInfo,
  { version, rank }: SummarizeOptions,
): RankSummary {
  const { context, info, sites, lines, classes, annotations, steps, findings, verdict } = facts;
  const { snapshot, trace } = context;
  const { letters } = room;
  const { bytes, container, protocol = null, partial = null } = file;
  const { device, kind, recording, events, allocations, anomalies, ooms } = info;
  const settings = Object.entries(snapshot.settings);
  const warnings = snapshot.warnings.slice(0, 8);
  return {
    schema: SUMMARY_SCHEMA,
    vramscope: version,
    rank: rank ?? rankOfName(file.name) ?? null,
    file: { name: cut(file.name, letters), bytes, container, protocol, partial },
    ...{ device, kind, recording },
    recordingReason: cut(info.recordingReason, letters),
    ...{ events, allocations, anomalies },
    startUs: known(snapshot.startUs + (trace.events.timeUs?.[0] ?? Number.NaN)),
    durationUs: info.hasTime ? info.durationUs : null,
    start: perCounter((name) => known(info.start[name])),
    end: perCounter((name) => known(info.end[name])),
    peak: perCounter((name) => {
      const { bytes, event } = info.peaks[name];
      return { bytes: known(bytes), event };
    }),
    steps:
      steps === undefined
        ? null
        : {
            count: steps.bounds.length - 1,
            source: steps.source,
            description: cut(steps.description, 200),
            ...stepCurve(context, steps.bounds, room.points),
          },
    curve: curveOf(context, room.points),
    classes: classes.map((one) => {
      return { class: MEMORY_CLASSES[one.class].id, peakBytes: one.bytes };
    }),
    callSites: sites.slice(0, room.sites).map((site) => siteOf(facts, site, letters)),
    otherSites: {
      sites: Math.max(0, sites.length - room.sites),
      ...sumOf(...sites.slice(room.sites)),
    },
    program: {
      count: lines.length,
      keys: lines.slice(0, room.lines).map(([key]) => key),
      allocations: lines.slice(0, room.lines).map(([, count]) => count),
    },
    annotations: annotations
      .slice(0, room.annotations)
      .map((one) => ({ ...one, name: cut(one.name, letters) })),
    settings: Object.fromEntries(
      settings
        .slice(0, room.settings)
        .map(([name, value]) => [cut(name, letters), cut(settingText(value), letters)]),
    ),
    ooms: ooms.slice(0, room.ooms).map(({ event, timeUs, requestedBytes, ...oom }) => ({
      event,
      step: steps === undefined ? null : stepOf(steps, event),
      timeUs: known(timeUs),
      requestedBytes,
      deviceFreeBytes: known(oom.deviceFreeBytes),
      wasRetried: oom.wasRetried,
    })),
    oomCount: ooms.length,
    verdict: { tone: verdict.tone, text: cut([verdict.text, ...verdict.also].join(' '), letters) },
    findings: findings.slice(0, room.findings).map((finding) => findingOf(facts, finding, letters)),
    warnings: warnings.map(({ code, message }) => ({ code, message: cut(message, letters) })),
    leftOut: leftOut([
      ['call site', sites.length - room.sites, 'summed up in otherSites'],
      ['line', lines.length - room.lines, 'of those that only tell roles apart'],
      ['annotation', annotations.length - room.annotations, ''],
      ['setting', settings.length - room.settings, ''],
      ['out-of-memory event', ooms.length - room.ooms, ''],
      ['finding', findings.length - room.findings, ''],
      ['warning', snapshot.warnings.length - warnings.length, ''],
    ]),
  };
}

function siteOf({ context, keys }: Facts, site: SiteRow, letters: number): SummarySite {
  const { key, line, stack, first } = site;
  const isFromBefore = first < context.replay.allocations.preexisting;
  return {
    key,
    line,
    frame: frameOf(context.stacks.topUserFrameView(stack), letters),
    label: cut(keys.labelOf(stack, isFromBefore), letters),
    class: classId(site),
    ...sumOf(site),
  };
}

function findingOf({ findingKeys }: Facts, finding: Finding, letters: number): SummaryFinding {
  const { detector, kind, severity, bytes, claim, parts } = finding;
  const rows = new Set(parts.map(({ stack }) => stack));
  return {
    ...{ detector, kind, severity, bytes },
    claim: cut(claim, letters),
    frame: frameOf(finding.frame, letters),
    perStep: finding.perStep ?? null,
    sites: [...rows].slice(0, 20).map((stack) => findingKeys.keyOf(stack)),
  };
}

/** Allocations by line key, in key order. */
function linesOf(sites: readonly SiteRow[]): readonly (readonly [string, number])[] {
  const lines = new Map<string, number>();
  for (const { line, allocations } of sites) addUp(lines, line, allocations);
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
}

function annotationPeaks(context: DeviceModel): RankSummary['annotations'] {
  const { replay, trace } = context;
  const maximum = memoized(
    (name: CounterName) => new CounterBlocks(replay, name, trace.events.length),
  );
  const groups = groupAnnotations(context.annotations(), replay, maximum);
  return groups.filter(isRecorded).map(({ name, count, peaks }) => {
    const [allocated, reserved] = [peaks.allocatedBytes, peaks.reservedBytes];
    return { name, count, allocatedBytes: allocated.bytes, reservedBytes: reserved.bytes };
  });
}

function leftOut(lists: readonly (readonly [string, number, string])[]): string[] {
  return lists
    .filter(([, count]) => count > 0)
    .map(([noun, count, how]) => `${plural(count, noun)}${how === '' ? '' : ` (${how})`}`);
}

function frameOf(frame: FrameView | undefined, letters: number): FrameReport | null {
  if (frame === undefined) return null;
  const { filename, line, name } = frame;
  return { file: cutStart(filename, letters), line, name: cut(name, letters) };
}

const known = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

const cut = (text: string, letters: number): string =>
  text.length <= letters ? text : `${text.slice(0, letters - 1)}…`;

/** Keeps the end of a path: that is where files differ. */
const cutStart = (text: string, letters: number): string =>
  text.length <= letters ? text : `…${text.slice(1 - letters)}`;
