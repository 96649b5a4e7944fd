/** The answer for who has ten seconds: did memory run out, and was it too much or fragmented. */
import { plural } from '../base/format.ts';
import type { Analysis } from './analyse.ts';
import { RETRIED } from './detectors/oom.ts';
import type { Check, Finding } from './detectors.ts';

/** severe: memory ran out. warning: it will, or is wasted. unknown: it cannot be told. */
export type VerdictTone = 'severe' | 'warning' | 'calm' | 'unknown';

export interface Verdict {
  readonly tone: VerdictTone;
  readonly text: string;
  /** What else the user should know at once, such as the leak that filled the card. */
  readonly also: readonly string[];
  /** What to try first, of the one finding that matters most; empty where there is nothing to mend. */
  readonly advice: readonly string[];
  /** Those that `text` and `also` are of, in that order. */
  readonly findings: readonly Finding[];
}

/** More would be no verdict: they are counted, and listed below it. */
const MAX_REPORTED = 3;

/** 'Raise the limit of this process, if …' and 'Reduce what is alive …': the second is for who cannot do the first. */
const MOST_ADVISED = 2;

/** Undefined until OOMs have been looked for. Gets surer as findings come in. */
export function verdictOf({ findings, checks }: Analysis): Verdict | undefined {
  const oom = checks.find(({ detector }) => detector === 'oom');
  if (oom === undefined) return undefined;
  const failures = findings.filter(({ detector, kind }) => detector === 'oom' && kind !== RETRIED);
  const last = failures.reduce<Finding | undefined>(
    (latest, one) => (latest === undefined || one.events.last > latest.events.last ? one : latest),
    undefined,
  );
  const culprits = findings.filter((finding) => isCulprit(finding, last));
  const also = headlines(culprits);
  if (last !== undefined) {
    const text = last.headline ?? last.claim;
    // A limit of the process is told first of all, which only the finding about the OOM knows of.
    const advice = last.advice.slice(0, MOST_ADVISED);
    return {
      tone: 'severe',
      text,
      also: [last.holder ?? [], also].flat(),
      advice,
      findings: [last, ...culprits],
    };
  }
  const tone = also.length > 0 ? 'warning' : calmTone(oom, checks);
  const small = findings.filter(
    ({ severity, detector }) => severity === 'low' && detector !== 'peak',
  );
  const text = textWithoutOom(oom, also.length > 0, small.length);
  const advice = culprits[0]?.advice.slice(0, MOST_ADVISED) ?? [];
  return { tone, text, also, advice, findings: culprits };
}

/** An OOM that says fragmented has said so: what it was lost to is in the finding. */
function isCulprit({ detector, severity }: Finding, oom: Finding | undefined): boolean {
  if (severity === 'low' || detector === 'oom') return false;
  const isSaid = oom?.kind === 'fragmented';
  return !(isSaid && (detector === 'fragmentation' || detector === 'segment-thrashing'));
}

function headlines(findings: readonly Finding[]): string[] {
  const reported = findings
    .slice(0, MAX_REPORTED)
    .map(({ headline, holder, claim }) => [headline ?? claim, holder ?? []].flat().join(' '));
  const more = findings.length - reported.length;
  return more > 0 ? [...reported, `And ${plural(more, 'finding')} more, below.`] : reported;
}

function calmTone(oom: Check, checks: readonly Check[]): VerdictTone {
  const isBlind = checks.every(({ status }) => status === 'cannot-tell');
  return oom.status === 'cannot-tell' || isBlind ? 'unknown' : 'calm';
}

function textWithoutOom(oom: Check, hasCulprits: boolean, small: number): string {
  if (oom.status === 'cannot-tell')
    return `Whether memory ran out cannot be told. ${sentence(oom.reason)}`;
  if (hasCulprits) return 'No OOM in this file, but:';
  return small > 0
    ? `No OOM in this file, and nothing grave: ${plural(small, 'small finding')} below.`
    : 'No OOM in this file, and nothing found that is wrong.';
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
