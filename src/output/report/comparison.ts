/** `vramscope compare --json`: the contract `vramscope.compare/1`. */

import type { Counters } from '../../allocator/replay/types.ts';
import type { Moment, RunProfile } from '../../analysis/compare/run-profile.ts';
import { type FailedThreshold, thresholdBytes } from '../../analysis/compare/thresholds.ts';
import type {
  CallSiteChange,
  Cause,
  ClassChange,
  Comparison,
  EntryChange,
  SettingChange,
} from '../../analysis/compare/types.ts';
import { type FrameReport, frameReport } from '../../device/model/frame-text.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { type FileReport, fileReport } from './stats.ts';

export interface ComparisonReport {
  readonly schema: 'vramscope.compare/1';
  readonly a: SideReport;
  readonly b: SideReport;
  /** Reserved bytes of both peaks, or at the end where both are compared there. */
  readonly difference: { readonly allocatedBytes: number; readonly reservedBytes: number };
  /** Those that changed, the largest change first; the differences add up to that of the allocated bytes. */
  readonly callSites: readonly CallSiteReport[];
  readonly classes: readonly ClassChange[];
  /** The one that explains most first; they add up to the difference of the allocated bytes too. */
  readonly causes: readonly CauseReport[];
  readonly settings: readonly SettingChange[];
  readonly verdict: string;
  readonly failed: readonly { readonly gate: string; readonly is: string }[];
}

export interface SideReport {
  readonly file: FileReport;
  readonly device: number;
  readonly event: EventIndex;
  readonly allocatedBytes: number;
  readonly peak: Counters;
}

export interface CallSiteReport
  extends Pick<
    CallSiteChange,
    'kind' | 'class' | 'bytesA' | 'bytesB' | 'differenceBytes' | 'countA' | 'countB'
  > {
  /** The line in B, or in A where B does not have it. null: no stack was recorded. */
  readonly frame: FrameReport | null;
  readonly frameA: FrameReport | null;
  readonly frameB: FrameReport | null;
}

export interface CauseReport extends Omit<Cause, 'entries'> {
  readonly entries: readonly EntryReport[];
}

/** An entry of the accounts on both sides. */
export interface EntryReport extends Omit<EntryChange, 'lines' | 'rate'> {
  readonly lines: readonly FrameReport[];
  /** Of what is kept and still grew, on the side that has more. */
  readonly perStep: EntryChange['rate'] | null;
}

const causeReport = ({ bytes, isExplained, text, entries }: Cause): CauseReport => ({
  ...{ bytes, isExplained, text },
  entries: entries.map(({ lines, rate, ...entry }) => ({
    ...entry,
    lines: lines.flatMap((line) => frameReport(line) ?? []),
    perStep: rate ?? null,
  })),
});

export function buildComparison(
  comparison: Comparison,
  at: Moment,
  failed: readonly FailedThreshold[],
): ComparisonReport {
  const { a, b, differenceBytes, sites, classes, causes, settings, verdict } = comparison;
  return {
    schema: 'vramscope.compare/1',
    a: sideReport(a),
    b: sideReport(b),
    difference: {
      allocatedBytes: differenceBytes,
      reservedBytes:
        thresholdBytes(b, 'reservedBytes', at) - thresholdBytes(a, 'reservedBytes', at),
    },
    callSites: sites
      .filter((site) => site.differenceBytes !== 0)
      .map((site) => ({
        kind: site.kind,
        class: site.class,
        frame: frameReport((site.b ?? site.a)?.frame),
        frameA: frameReport(site.a?.frame),
        frameB: frameReport(site.b?.frame),
        bytesA: site.bytesA,
        bytesB: site.bytesB,
        differenceBytes: site.differenceBytes,
        countA: site.countA,
        countB: site.countB,
      })),
    classes,
    causes: causes.map(causeReport),
    settings,
    verdict,
    failed: failed.map(({ gate, is }) => ({ gate, is })),
  };
}

export function sideReport({ file, device, event, counters, peak }: RunProfile): SideReport {
  return {
    file: fileReport(file),
    device,
    event,
    allocatedBytes: counters.allocatedBytes,
    peak,
  };
}
