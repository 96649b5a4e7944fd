/**
 * `vramscope analyze --json`: the contract `vramscope.findings/2`, which adds the account and its verdict to `/1`.
 * Unknown values are null, never 0. A finding without a stack has frame null and an empty stack.
 */
import type {
  Account,
  AccountCard,
  AccountEntry,
  EntryRate,
} from '../../analysis/account/types.ts';
import type { Analysis } from '../../analysis/findings/analyse.ts';
import type { Finding } from '../../analysis/findings/detectors.ts';
import type { Verdict } from '../../analysis/verdict/types.ts';
import type { Judgement } from '../../analysis/verdict/verdict.ts';
import { type FrameReport, frameReport } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { DeviceTrace, FileInfo } from '../../format/snapshot/tables.ts';
import { fileReport, rowReport, sampleReport } from './stats.ts';

export type FindingsReport = ReturnType<typeof buildFindings>;
export type DeviceFindings = ReturnType<typeof deviceFindings>;
export type FindingReport = ReturnType<typeof findingReport>;
export type VerdictReport = ReturnType<typeof verdictReport>;

/** An analysis, possibly still running. */
type PartialAnalysis = Pick<Analysis, 'checks' | 'findings'> &
  Partial<Pick<Analysis, 'account' | 'accountAtEnd' | 'verdict' | 'most'>>;

/** `analyses[i]` belongs to `devices[i]`. */
export const buildFindings = (
  file: FileInfo,
  devices: readonly Pick<DeviceTrace, 'device' | 'kind' | 'accelerator'>[],
  analyses: readonly PartialAnalysis[],
) => ({
  schema: 'vramscope.findings/2' as const,
  file: fileReport(file),
  devices: analyses.map((analysis, i) => deviceFindings(devices[i], analysis)),
});

const deviceFindings = (
  { device, kind, accelerator }: Pick<DeviceTrace, 'device' | 'kind' | 'accelerator'>,
  { checks, findings, account, accountAtEnd, verdict, most }: PartialAnalysis,
) => ({
  device,
  kind,
  ...(accelerator !== undefined && { vendor: accelerator.vendor }),
  /** Every reserved byte of the most important moment; null until the analysis is done. */
  account: account === undefined ? null : accountReport(account),
  /** At the end of the recording. */
  accountAtEnd: accountAtEnd === undefined ? null : accountReport(accountAtEnd),
  /** The account's conclusion: cause, bytes, lines, what to try. */
  verdict: verdict === undefined ? null : verdictReport(verdict),
  /** Without a problem: the line that allocated most at that moment, if one stands out. */
  most: mostReport(most),
  checks,
  findings: findings.map(findingReport),
});

function mostReport(most: Judgement['most']) {
  const frame = most && frameReport(most.line);
  if (most === undefined || !frame) return null;
  const { bytes, count, withCalledBytes } = most;
  return { ...frame, bytes, count, withCalledBytes };
}

/** Σ entries[].bytes = reservedBytes. */
const accountReport = (account: Account) => ({
  moment: account.moment,
  allocatedBytes: account.allocatedBytes,
  reservedBytes: account.reservedBytes,
  /** Included in the entries: blocks are larger than requested. */
  roundingBytes: account.roundingBytes ?? null,
  limitBytes: account.limitBytes ?? null,
  requestedBytes: account.requestedBytes ?? null,
  entries: account.entries.map(entryReport),
  /** The whole card, apart from the entries; null if nothing is known of it. */
  card: account.card === undefined ? null : cardReport(account.card),
});

/** Σ rows[].bytes = totalBytes, if a ledger was recorded. */
const cardReport = ({ sample, rows, unknown }: AccountCard) => ({
  sample: sample === undefined ? null : sampleReport(sample),
  totalBytes: sample?.totalBytes ?? null,
  rows: rows.map(rowReport),
  unknown,
});

/** Includes `holder` and `perStep` only if they are known. */
const entryReport = ({ kind, bytes, count, lines, holder, rate, isGrowing }: AccountEntry) => ({
  ...{ kind, bytes, count },
  lines: lineReports(lines),
  ...(holder !== undefined && { holder }),
  ...(rate !== undefined && { perStep: rateReport(rate) }),
  growing: isGrowing,
});

export const rateReport = ({ bytes, steps, unit, bursts }: EntryRate) => ({
  ...{ bytes, steps, unit },
  ...(bursts !== undefined && { bursts }),
});

export type RateReport = ReturnType<typeof rateReport>;

const lineReports = (lines: readonly FrameView[]): FrameReport[] =>
  lines.flatMap((line) => frameReport(line) ?? []);

const verdictReport = ({
  forecast,
  cause,
  severity,
  tone,
  bytes,
  text,
  also,
  ...own
}: Verdict) => ({
  cause,
  pattern: own.pattern ?? null,
  ...{ severity, tone, bytes, text, also },
  lines: lineReports(own.lines),
  /** The owner, if the recording has names. */
  holder: own.holder ?? null,
  advice: own.advice.map(({ id, text, savesBytes = null, isEnough = null, soFar = false }) => {
    return { id, text, savesBytes, isEnough, soFar };
  }),
  forecast: forecast === undefined ? null : { ...forecast, stepsLeft: forecast.stepsLeft ?? null },
});

const findingReport = ({ detector, kind, severity, bytes, claim, ...finding }: Finding) => ({
  ...{ detector, kind, severity, bytes, claim },
  frame: frameReport(finding.frame),
  /** Whether the line makes the memory, stores it, or starts the work that makes it. */
  frameIs: finding.frameIs ?? null,
  /** The user's lines on the stack, innermost first, out to the one in the user's own loop. */
  userLines: lineReports(finding.userLines),
  stack: lineReports(finding.stack),
  perStep: finding.perStep ?? null,
  law: finding.law ?? null,
  events: finding.events,
  parts: finding.parts.map(({ frame, stack: _, stackKind, ...part }) => ({
    frame: frameReport(frame),
    /** Why there is no line, if there is none. */
    stackKind,
    ...part,
  })),
  facts: finding.facts,
  advice: finding.advice,
  disproof: finding.disproof,
  fingerprint: finding.fingerprint,
});
