/**
 * `vramscope analyze --json`: the contract `vramscope.findings/1`.
 *
 * What is not known is null, never 0; a finding without a stack has frame null and an empty stack.
 */
import { type FrameReport, frameReport } from '../device/frame-text.ts';
import type { Analysis } from '../findings/analyse.ts';
import type { Check, Finding } from '../findings/detectors.ts';
import type { FindingPart, GrowthLawKind, LineRole, PerStep } from '../findings/types.ts';
import { type Verdict, verdictOf } from '../findings/verdict.ts';
import type { DeviceTrace, FileInfo } from '../snapshot/tables.ts';
import { type FileReport, fileReport } from './stats.ts';

export interface FindingsReport {
  readonly schema: 'vramscope.findings/1';
  readonly file: FileReport;
  readonly devices: readonly DeviceFindings[];
}

export interface DeviceFindings {
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  /** What the findings say together, the cause first; null where OOMs were not looked for. */
  readonly verdict: VerdictReport | null;
  readonly checks: readonly Check[];
  readonly findings: readonly FindingReport[];
}

export type VerdictReport = Pick<Verdict, 'tone' | 'text' | 'also' | 'advice'>;

export interface FindingReport
  extends Pick<
    Finding,
    | 'detector'
    | 'kind'
    | 'severity'
    | 'bytes'
    | 'claim'
    | 'events'
    | 'facts'
    | 'advice'
    | 'disproof'
    | 'fingerprint'
  > {
  readonly frame: FrameReport | null;
  /** What the line is to the memory: where it is made, stored, or started to be made. */
  readonly frameIs: LineRole | null;
  /** The user's lines that lead there, the innermost first, out to the one in the user's own loop. */
  readonly userLines: readonly FrameReport[];
  readonly stack: readonly FrameReport[];
  readonly perStep: PerStep | null;
  readonly law: GrowthLawKind | null;
  readonly parts: readonly PartReport[];
}

interface PartReport extends Pick<FindingPart, 'bytes' | 'count' | 'note'> {
  readonly frame: FrameReport | null;
}

/** `analyses[i]` is that of `devices[i]`. */
export function buildFindings(
  file: FileInfo,
  devices: readonly Pick<DeviceTrace, 'device' | 'kind'>[],
  analyses: readonly Analysis[],
): FindingsReport {
  return {
    schema: 'vramscope.findings/1',
    file: fileReport(file),
    devices: analyses.map(({ checks, findings }, i) => ({
      device: devices[i].device,
      kind: devices[i].kind,
      verdict: verdictReport({ checks, findings }),
      checks,
      findings: findings.map(findingReport),
    })),
  };
}

function verdictReport(analysis: Analysis): VerdictReport | null {
  const verdict = verdictOf(analysis);
  if (verdict === undefined) return null;
  const { tone, text, also, advice } = verdict;
  return { tone, text, also, advice };
}

function findingReport(finding: Finding): FindingReport {
  const { detector, kind, severity, bytes, claim, events, facts, advice, disproof } = finding;
  return {
    detector,
    kind,
    severity,
    bytes,
    claim,
    frame: frameReport(finding.frame),
    frameIs: finding.frameIs ?? null,
    userLines: finding.userLines.flatMap((frame) => frameReport(frame) ?? []),
    stack: finding.stack.flatMap((frame) => frameReport(frame) ?? []),
    perStep: finding.perStep ?? null,
    law: finding.law ?? null,
    events,
    parts: finding.parts.map(({ frame, bytes: own, count, note }) => ({
      frame: frameReport(frame),
      bytes: own,
      count,
      note,
    })),
    facts,
    advice,
    disproof,
    fingerprint: finding.fingerprint,
  };
}
