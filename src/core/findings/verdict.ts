/**
 * The answer for someone who has ten seconds: did memory run out, and what led to it.
 *
 * Findings are joined, for an OOM is most often the end of something else. What led to it is said first,
 * with its own advice, in this order:
 *
 *   exceptions that are kept    each caught OOM left tensors behind
 *   a leak                      what is kept was a good part of what was in use
 *   a graph without backward    the pass that ran out is one of those that lack no_grad
 *   the OOM by itself           fragmented, too large, a limit on the process, others on the card
 */
import { formatBytes, plural } from '../base/format.ts';
import type { Analysis } from './analyse.ts';
import { KEPT_EXCEPTIONS } from './detectors/oom.ts';
import type { Check, Finding } from './detectors.ts';
import type { OomFailure } from './types.ts';
import { lineOf, type VerdictLine } from './verdict-line.ts';

/** severe: memory ran out. warning: it will, or is wasted. unknown: it cannot be known. */
export type VerdictTone = 'severe' | 'warning' | 'calm' | 'unknown';

export interface Verdict {
  readonly tone: VerdictTone;
  readonly text: string;
  /** The same in some sixty characters. */
  readonly brief: string;
  /** The finding to look at first; undefined where nothing matters. */
  readonly lead: Finding | undefined;
  /** The line to look at first: of `lead`. */
  readonly line: VerdictLine | undefined;
  /** At most two sentences that the user should know at once, such as the request that failed after a leak. */
  readonly also: readonly string[];
  /** The figures behind `text`, and what there was no room for. */
  readonly why: readonly string[];
  /** What to try first, of the one finding that matters most; empty where there is nothing to mend. */
  readonly advice: readonly string[];
  /** What `text` is about first, then all others that matter. */
  readonly findings: readonly Finding[];
}

/** With `text` three lines: more is no verdict. */
const MAX_ALSO = 2;

/** 'Raise the limit of this process, if …' and 'Reduce what is alive …': the second is for those who cannot do the first. */
const MOST_ADVISED = 2;

/** Of what was in use at an OOM: what is kept below it did not fill the memory. */
const MIN_LEAK_SHARE = 0.25;

/** Undefined until OOMs have been looked for. Gets surer as findings come in. */
export function verdictOf({ findings, checks }: Analysis): Verdict | undefined {
  const oom = checks.find(({ detector }) => detector === 'oom');
  if (oom === undefined) return undefined;
  const last = lastFailure(findings);
  const culprits = findings.filter((finding) => isCulprit(finding, findings, last));
  return last === undefined
    ? withoutOom(oom, checks, findings, culprits)
    : afterOom(last, findings, culprits);
}

function lastFailure(findings: readonly Finding[]): Finding | undefined {
  return findings
    .filter(({ failure }) => failure !== undefined)
    .reduce<Finding | undefined>(
      (latest, one) =>
        latest === undefined || one.events.last > latest.events.last ? one : latest,
      undefined,
    );
}

/** What matters beside an OOM, each cause once. */
function isCulprit(
  finding: Finding,
  findings: readonly Finding[],
  oom: Finding | undefined,
): boolean {
  const { detector, kind, severity } = finding;
  if (severity === 'low') return false;
  if (detector === 'oom') return kind === KEPT_EXCEPTIONS;
  // An OOM that says fragmented has said so: what it was lost to is in the finding.
  const isGaps = detector === 'fragmentation' || detector === 'segment-thrashing';
  if (isGaps && oom?.kind === 'fragmented') return false;
  if (kind === 'growing-concatenation') {
    return !findings.some((one) => one.kind === 'reserved-unused' && isSameLine(one, finding));
  }
  if (detector === 'growth') {
    return !findings.some((one) => one.kind === KEPT_EXCEPTIONS && isSameLine(one, finding));
  }
  return true;
}

function isSameLine({ frame: a }: Finding, { frame: b }: Finding): boolean {
  return a !== undefined && a.filename === b?.filename && a.line === b.line;
}

function afterOom(
  oom: Finding,
  findings: readonly Finding[],
  culprits: readonly Finding[],
): Verdict {
  const { failure } = oom;
  const cause = failure && causeOf(oom, failure, culprits);
  const first = cause?.finding ?? oom;
  const others = culprits.filter((finding) => finding !== cause?.finding);
  const own = ownText(oom, findings);
  const { text, brief } = cause ?? own;
  // Who asked last is not to blame for gaps: what they are due to is.
  const gaps = oom.kind === 'fragmented' ? gapsOf(findings) : undefined;
  const lead = cause?.finding ?? gaps ?? oom;
  const holder = oom.kind === 'fragmented' ? (gaps?.holder ?? oom.holder) : oom.holder;
  const also =
    cause === undefined
      ? [holder ?? [], headlines(others), limitBeside(text, failure)].flat()
      : [requestText(oom), headlines(others), limitBeside(text, failure)].flat();
  const figures = cause === undefined ? [rest(oom)] : [rest(first), rest(oom)];
  return {
    tone: failure?.isCaught === true && cause === undefined ? 'warning' : 'severe',
    text,
    brief,
    lead,
    line: lineOf(lead),
    also: also.slice(0, MAX_ALSO),
    why: [...also.slice(MAX_ALSO), ...figures].filter((reason) => reason !== ''),
    advice: first.advice.slice(0, MOST_ADVISED),
    findings: [...new Set([first, oom, ...others])],
  };
}

/** The limit on the process, where the text does not begin with it. */
function limitBeside(text: string, failure: OomFailure | undefined): readonly string[] {
  const limit = failure?.limit;
  return limit === undefined || text.includes('own limit') ? [] : [limit];
}

/** What a claim says beyond its headline and its holder. */
function rest({ claim, headline = '', holder = '' }: Finding): string {
  return claim.replace(headline, '').replace(holder, '').trim();
}

/** What is said of an OOM, whole and in a few words. */
type Statement = Pick<Verdict, 'text' | 'brief'>;

interface Cause extends Statement {
  readonly finding: Finding;
}

function causeOf(
  oom: Finding,
  failure: OomFailure,
  culprits: readonly Finding[],
): Cause | undefined {
  const exceptions = culprits.find(({ kind }) => kind === KEPT_EXCEPTIONS);
  if (exceptions !== undefined) {
    const text = exceptions.headline ?? exceptions.claim;
    return { finding: exceptions, text, brief: sentence(exceptions.brief ?? text) };
  }
  const graph = culprits.find(({ causedOom }) => causedOom === oom.events.last);
  if (graph !== undefined) {
    const { kind, headline } = graph;
    const isOwnText = kind === 'evaluation-ran-out' && headline !== undefined;
    const text = isOwnText ? headline : `Out of memory because ${inSentence(graph)}.`;
    return { finding: graph, text, brief: `Out of memory: ${briefOf(graph)}` };
  }
  const [leak] = culprits
    .filter(({ detector }) => detector === 'growth')
    .map((finding) => ({ finding, keptBytes: keptAt(finding, oom.events.last) }))
    .filter(({ keptBytes }) => keptBytes >= MIN_LEAK_SHARE * failure.inUseBytes)
    .sort((a, b) => b.keptBytes - a.keptBytes);
  if (leak === undefined) return undefined;
  const steps = leak.finding.perStep?.steps;
  const after = steps === undefined ? '' : ` after ${plural(steps, 'step')}`;
  const need = formatBytes(needWithout(leak.finding, failure));
  return {
    finding: leak.finding,
    brief: `Out of memory${after}: ${briefOf(leak.finding)}`,
    text: `Out of memory${after} because ${inSentence(leak.finding)}; without that the run needs about ${need}.`,
  };
}

/** What was kept when an event came. */
function keptAt({ series, bytes }: Finding, event: number): number {
  if (series === undefined) return bytes;
  const next = series.events.findIndex((at) => at > event);
  const last = next < 0 ? series.bytes.length : next;
  return last === 0 ? 0 : series.bytes[last - 1];
}

/** The highest moment up to the OOM, had nothing been kept. */
function needWithout(leak: Finding, { usage, inUseBytes, requestedBytes }: OomFailure): number {
  const end = usage.at(-1)?.event ?? 0;
  const atEnd = inUseBytes + requestedBytes - keptAt(leak, end);
  return usage.reduce(
    (most, { event, bytes }) => Math.max(most, bytes - keptAt(leak, event)),
    Math.max(0, atEnd),
  );
}

/** A finding's headline as a part of a sentence: 'a.py:3 (f) keeps 2 KiB every step', 'a whole graph stays alive'. */
function inSentence({ headline, claim }: Finding): string {
  const text = (headline ?? claim).replace(/\.$/, '');
  return /^[A-Z][a-z]* /.test(text) ? `${text[0].toLowerCase()}${text.slice(1)}` : text;
}

function ownText(oom: Finding, findings: readonly Finding[]): Statement {
  const { failure, headline, claim, facts, brief } = oom;
  const text = headline ?? claim;
  if (failure?.isCaught !== true) return { text, brief: brief ?? text };
  const caught = findings.filter((one) => one.failure?.isCaught === true);
  const all = facts.find(({ label }) => label === 'OOM events in all');
  const count = all !== undefined && 'count' in all ? all.count : caught.length;
  const where = oom.frame === undefined ? '' : ` The last time: ${oom.claim.split('. ')[0]}.`;
  const caughtText = `Memory ran out ${plural(count, 'time')}, and the program caught it and went on.`;
  return { text: `${caughtText}${where}`, brief: caughtText };
}

/** 'The request that failed was 4.00 MiB: capture.py:99 (train_step) asked for it.' */
function requestText({ claim }: Finding): string {
  const [first] = claim.split('. ');
  return `${first.replace(/\.$/, '')}.`;
}

/** What says who the gaps are due to. */
const gapsOf = (findings: readonly Finding[]): Finding | undefined =>
  findings.find(({ kind }) => kind === 'reserved-unused');

/** 'a leak of 512 bytes every step.' */
const briefOf = (finding: Finding): string => sentence(finding.brief ?? inSentence(finding));

function withoutOom(
  oom: Check,
  checks: readonly Check[],
  findings: readonly Finding[],
  culprits: readonly Finding[],
): Verdict {
  const all = headlines(culprits);
  const small = findings.filter(
    ({ severity, detector }) => severity === 'low' && detector !== 'peak',
  );
  const isOver = all.length > MAX_ALSO;
  const shown = all.slice(0, isOver ? MAX_ALSO - 1 : MAX_ALSO);
  const more = all.length - shown.length;
  return {
    tone: all.length > 0 ? 'warning' : calmTone(oom, checks),
    text: textWithoutOom(oom, all.length > 0, small.length),
    brief: briefWithoutOom(oom, culprits, small.length),
    lead: culprits[0],
    line: culprits[0] && lineOf(culprits[0]),
    also: isOver ? [...shown, `And ${plural(more, 'finding')} more, below.`] : shown,
    why: [...culprits.slice(0, 1).map(rest), ...all.slice(shown.length)].filter(
      (reason) => reason !== '',
    ),
    advice: culprits[0]?.advice.slice(0, MOST_ADVISED) ?? [],
    findings: culprits,
  };
}

const headlines = (findings: readonly Finding[]): string[] =>
  findings.map(({ headline, holder, claim }) => [headline ?? claim, holder ?? []].flat().join(' '));

function calmTone(oom: Check, checks: readonly Check[]): VerdictTone {
  const isBlind = checks.every(({ status }) => status === 'cannot-tell');
  return oom.status === 'cannot-tell' || isBlind ? 'unknown' : 'calm';
}

function textWithoutOom(oom: Check, hasCulprits: boolean, small: number): string {
  if (oom.status === 'cannot-tell')
    return `We can't tell whether memory ran out. ${sentence(oom.reason)}`;
  if (hasCulprits) return 'No out-of-memory error in this file, but:';
  return small > 0
    ? `No out-of-memory error, and no serious problem: ${plural(small, 'small finding')} below.`
    : 'No out-of-memory error, and no problem found.';
}

function briefWithoutOom(oom: Check, [first]: readonly Finding[], small: number): string {
  if (oom.status !== 'cannot-tell') {
    return first === undefined
      ? textWithoutOom(oom, false, small)
      : `No OOM, but ${briefOf(first)}`;
  }
  const unknown = "We can't tell whether memory ran out.";
  if (first === undefined) return unknown;
  const brief = briefOf(first);
  return `${brief[0].toUpperCase()}${brief.slice(1)} ${unknown}`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
