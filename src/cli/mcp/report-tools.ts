/** Tools that answer with the reports of the command line: overview, findings, counters, other settings. */
import { z } from 'zod';
import { parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../../allocator/simulator/presets.ts';
import { buildProfile } from '../../analysis/compare/build-profile.ts';
import { compareSides } from '../../analysis/compare/compare.ts';
import type { RunProfile } from '../../analysis/compare/run-profile.ts';
import type { Analysis } from '../../analysis/findings/analyse.ts';
import { assert } from '../../base/assert.ts';
import { formatBytes } from '../../base/format.ts';
import { deviceInfo, failedOoms } from '../../device/model/device-info.ts';
import { buildComparison, type CallSiteReport } from '../../output/report/comparison.ts';
import {
  buildFindings,
  type DeviceFindings,
  type FindingReport,
} from '../../output/report/findings.ts';
import { buildStats } from '../../output/report/stats.ts';
import { buildWhatIf } from '../../output/report/whatif.ts';
import { runWhatIf } from '../commands/whatif.ts';
import { type Json, pageOf, shortened } from './answer.ts';
import type { OneDevice, OpenFiles } from './open-files.ts';
import { defineTool, OF_DEVICE, OF_FILE, PAGE, placeText, refusal } from './tool.ts';

export const openTool = defineTool({
  name: 'open',
  title: 'Open a snapshot',
  description:
    'Call this first. Says what a PyTorch CUDA memory snapshot holds: devices, how complete the recording is, peaks, OOMs, warnings, and the verdict on the device with the most memory.',
  input: OF_FILE,
  async answer(files, input) {
    const main = await files.device(input.file, undefined);
    const { verdict } = findingsOf(main, await main.analysis());
    return shortened(
      {
        file: main.file.name,
        bytes: main.file.bytes,
        verdict,
        mainDevice: main.context.trace.device,
        devices: main.contexts.map((context, index) => {
          const info = deviceInfo(context, index);
          return {
            device: info.device,
            kind: info.kind,
            events: info.events,
            allocations: info.allocations,
            recording: info.recording,
            recordingMeans: info.recordingReason,
            peakAllocatedBytes: info.peaks.allocatedBytes,
            peakReservedBytes: info.peaks.reservedBytes,
            ooms: failedOoms(info).length,
          };
        }),
        warnings: main.snapshot.warnings.map(({ message }) => message),
        next: 'findings for causes and lines; stats, call_sites, allocations, what_if for figures',
      },
      input.maxBytes,
    );
  },
});

export const statsTool = defineTool({
  name: 'stats',
  title: 'Counters of a device',
  description:
    'Requested, allocated, active and reserved bytes at the start, at the end and at the peak, equal to torch.cuda.memory_stats(); every OOM; the allocator settings.',
  input: OF_DEVICE,
  async answer(files, input) {
    const one = await files.device(input.file, input.device);
    const report = buildStats(one.file, one.snapshot, one.contexts);
    const ofDevice = report.devices[one.deviceIndex];
    assert(ofDevice !== undefined, 'there is one for each context');
    const { ooms, ...figures } = ofDevice;
    return shortened(
      {
        ...figures,
        settings: report.settings,
        ooms,
        warnings: report.warnings.map(({ message }) => message),
      },
      input.maxBytes,
    );
  },
});

export const findingsTool = defineTool({
  name: 'findings',
  title: 'Causes found',
  description:
    'Why memory ran out or grows: the verdict, where every reserved byte is, and findings (leaks, fragmentation, OOMs, kept graphs). Each finding has its line of user code, bytes, and what to try. Without `finding`, a short list, the gravest first; with it, one in full: stack, parts, facts, and how to disprove it.',
  input: {
    ...OF_DEVICE,
    ...PAGE,
    finding: z.number().int().min(0).optional().describe('Position in the list.'),
  },
  async answer(files, input) {
    const one = await files.device(input.file, input.device);
    const { verdict, account, checks, findings: found } = findingsOf(one, await one.analysis());
    if (input.finding !== undefined) {
      const chosen = found[input.finding];
      if (chosen === undefined)
        throw refusal(`There are ${found.length} findings, counted from 0.`);
      return shortened({ ...chosen }, input.maxBytes);
    }
    const unclear = checks.filter(({ status }) => status === 'cannot-tell');
    const head = {
      verdict,
      account: account && {
        ...account,
        entries: account.entries.map(({ lines, ...entry }) => ({
          ...entry,
          lines: lines.slice(0, 2).map(placeText),
        })),
      },
      cannotTell: unclear.map(({ detector, reason }) => `${detector}: ${reason}`),
    };
    return pageOf(head, found.map(briefFinding), input);
  },
});

export const compareTool = defineTool({
  name: 'compare',
  title: 'Why one run needs more',
  description:
    'Compares two snapshots at their peaks (or ends): a verdict in words, the difference by class, and the call sites that changed, the largest change first. The differences add up to the byte.',
  input: {
    file: OF_FILE.file.describe('The snapshot to compare with: the baseline, A.'),
    other: z.string().describe('The snapshot that is asked about, B.'),
    at: z.enum(['peak', 'end']).default('peak'),
    ...PAGE,
    maxBytes: OF_FILE.maxBytes,
  },
  async answer(files, { file, other, at, ...page }) {
    const sides = [await sideOf(files, file, at), await sideOf(files, other, at)] as const;
    const report = buildComparison(compareSides(...sides), at, []);
    const { a, b, callSites, classes, verdict, difference, settings } = report;
    const head = {
      verdict,
      difference,
      allocatedBytes: { a: a.allocatedBytes, b: b.allocatedBytes },
      classes: classes.filter(({ bytesA, bytesB }) => bytesA !== bytesB),
      settings: settings.filter((setting) => setting.a !== setting.b),
    };
    return pageOf(head, callSites.map(briefChange), page);
  },
});

export const whatIfTool = defineTool({
  name: 'what_if',
  title: 'Other allocator settings',
  description:
    'Runs the recorded requests again under other PYTORCH_ALLOC_CONF settings: peak reserved bytes and OOMs of each. Without settings, ten that are worth trying.',
  input: {
    ...OF_DEVICE,
    settings: z
      .array(z.string())
      .optional()
      .describe('For example ["expandable_segments:True", "max_split_size_mb:128"].'),
    limitBytes: z
      .number()
      .positive()
      .optional()
      .describe('What PyTorch may reserve; by default the limit that the recorded run hit.'),
  },
  async answer(files, input) {
    const { context } = await files.device(input.file, input.device);
    if (context.trace.events.length === 0)
      throw refusal('The snapshot has no trace: there are no requests to run again.');
    const texts = input.settings ?? PRESETS;
    const confs = texts.map((text) => {
      const conf = parseAllocConf(text);
      if (conf.ok) return conf;
      throw refusal(`${text}: ${conf.message} (character ${conf.position + 1}).`);
    });
    const [report] = buildWhatIf([runWhatIf(context, { confs, limit: input.limitBytes })]).devices;
    return shortened({ ...report }, input.maxBytes);
  },
});

async function sideOf(files: OpenFiles, path: string, at: 'peak' | 'end'): Promise<RunProfile> {
  const { file, context, deviceIndex } = await files.device(path, undefined);
  return buildProfile(context, { file, deviceIndex, at });
}

const briefChange = ({ frame, frameA, frameB, ...change }: CallSiteReport): Json => ({
  line: frame === null ? null : placeText(frame),
  ...change,
  change: formatBytes(change.differenceBytes),
  ...(frameA !== null &&
    frameB !== null &&
    frameA.line !== frameB.line && { lineInA: frameA.line }),
});

function findingsOf({ file, context }: OneDevice, analysis: Analysis): DeviceFindings {
  const [device] = buildFindings(file, [context.trace], [analysis]).devices;
  assert(device !== undefined, 'one analysis gives one device');
  return device;
}

function briefFinding(finding: FindingReport, at: number): Json {
  const { detector, severity, bytes, claim, userLines, events, advice } = finding;
  return {
    finding: at,
    detector,
    severity,
    bytes,
    size: formatBytes(bytes),
    claim,
    lines: userLines.slice(0, 3).map(placeText),
    events,
    try: advice[0] ?? null,
  };
}
