/**
 * `vramscope analyze --json`: the contract `vramscope.findings/2`: what `/1` had, with the account and
 * the verdict that is read from it.
 *
 * What is not known is null, never 0; a finding without a stack has frame null and an empty stack.
 */

import type { Account, AccountEntry, EntryKind, MomentWhy } from '../../analysis/account/types.ts';
import type { Analysis } from '../../analysis/findings/analyse.ts';
import type { Check, Finding } from '../../analysis/findings/detectors.ts';
import type {
  FindingPart,
  GrowthLawKind,
  LineRole,
  PerStep,
} from '../../analysis/findings/types.ts';
import type { Cause, Pattern, Verdict, VerdictTone } from '../../analysis/verdict/types.ts';
import { type FrameReport, frameReport } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { DeviceTrace, FileInfo } from '../../format/snapshot/tables.ts';
import { type FileReport, fileReport } from './stats.ts';

export interface FindingsReport {
  readonly schema: 'vramscope.findings/2';
  readonly file: FileReport;
  readonly devices: readonly DeviceFindings[];
}

export interface DeviceFindings {
  readonly device: number;
  readonly kind: 'cuda' | 'host';
  /** Every reserved byte of the moment that matters most; null before the analysis is done. */
  readonly account: AccountReport | null;
  /** Of the end of the recording. */
  readonly accountAtEnd: AccountReport | null;
  /** What the account says: cause, bytes, lines, what to try. */
  readonly verdict: VerdictReport | null;
  readonly checks: readonly Check[];
  readonly findings: readonly FindingReport[];
}

/** Σ entries[].bytes = reservedBytes. */
export interface AccountReport {
  readonly moment: { readonly event: number; readonly why: MomentWhy };
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** Part of the entries: blocks are larger than what was asked for. */
  readonly roundingBytes: number | null;
  readonly limitBytes: number | null;
  readonly requestedBytes: number | null;
  readonly entries: readonly EntryReport[];
}

interface EntryReport {
  readonly kind: EntryKind;
  readonly bytes: number;
  readonly count: number;
  readonly lines: readonly FrameReport[];
  /** Who holds most of it, where the recording has names. */
  readonly holder?: string;
  readonly perStep?: { readonly bytes: number; readonly steps: number; readonly unit: string };
  readonly growing: boolean;
}

export interface VerdictReport {
  readonly cause: Cause;
  readonly pattern: Pattern | null;
  readonly severity: Verdict['severity'];
  readonly tone: VerdictTone;
  readonly bytes: number;
  readonly text: string;
  readonly also: readonly string[];
  readonly lines: readonly FrameReport[];
  /** Who holds it, where the recording has names. */
  readonly holder: string | null;
  readonly advice: readonly {
    readonly id: string;
    readonly text: string;
    readonly savesBytes: number | null;
    readonly isEnough: boolean | null;
  }[];
  readonly forecast: {
    readonly stepsLeft: number | null;
    readonly bytesPerStep: number;
    readonly unit: string;
  } | null;
}

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

/** An analysis, or as much of it as there is yet. */
export type PartialAnalysis = Pick<Analysis, 'checks' | 'findings'> &
  Partial<Pick<Analysis, 'account' | 'accountAtEnd' | 'verdict'>>;

/** `analyses[i]` is that of `devices[i]`. */
export function buildFindings(
  file: FileInfo,
  devices: readonly Pick<DeviceTrace, 'device' | 'kind'>[],
  analyses: readonly PartialAnalysis[],
): FindingsReport {
  return {
    schema: 'vramscope.findings/2',
    file: fileReport(file),
    devices: analyses.map(({ checks, findings, account, accountAtEnd, verdict }, i) => ({
      device: devices[i].device,
      kind: devices[i].kind,
      account: account === undefined ? null : accountReport(account),
      accountAtEnd: accountAtEnd === undefined ? null : accountReport(accountAtEnd),
      verdict: verdict === undefined ? null : verdictReport(verdict),
      checks,
      findings: findings.map(findingReport),
    })),
  };
}

function accountReport(account: Account): AccountReport {
  const { moment, allocatedBytes, reservedBytes, roundingBytes, limitBytes, requestedBytes } =
    account;
  return {
    moment,
    allocatedBytes,
    reservedBytes,
    roundingBytes: roundingBytes ?? null,
    limitBytes: limitBytes ?? null,
    requestedBytes: requestedBytes ?? null,
    entries: account.entries.map(entryReport),
  };
}

const entryReport = ({
  kind,
  bytes,
  count,
  lines,
  holder,
  rate,
  isGrowing,
}: AccountEntry): EntryReport => ({
  kind,
  bytes,
  count,
  lines: lineReports(lines),
  ...(holder !== undefined && { holder }),
  ...(rate !== undefined && { perStep: rate }),
  growing: isGrowing,
});

const lineReports = (lines: readonly FrameView[]): FrameReport[] =>
  lines.flatMap((line) => frameReport(line) ?? []);

function verdictReport(verdict: Verdict): VerdictReport {
  const { cause, pattern, severity, tone, bytes, text, also, lines, holder, advice, forecast } =
    verdict;
  return {
    cause,
    pattern: pattern ?? null,
    severity,
    tone,
    bytes,
    text,
    also,
    lines: lineReports(lines),
    holder: holder ?? null,
    advice: advice.map(({ id, text: what, savesBytes, isEnough }) => ({
      id,
      text: what,
      savesBytes: savesBytes ?? null,
      isEnough: isEnough ?? null,
    })),
    forecast:
      forecast === undefined ? null : { ...forecast, stepsLeft: forecast.stepsLeft ?? null },
  };
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
    userLines: lineReports(finding.userLines),
    stack: lineReports(finding.stack),
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
