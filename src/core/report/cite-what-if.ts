/** Findings of fragmentation and of OOMs with what the setting that mends most would have come to. */
import { formatCount } from '../base/format.ts';
import type { DeviceContext } from '../device/device-context.ts';
import type { Analysis } from '../findings/analyse.ts';
import { parseAllocConf } from '../simulator/alloc-conf.ts';
import { recordedRun } from '../simulator/recorded-run.ts';
import { simulate, whatIfInput } from '../simulator/what-if.ts';
import { CITED_SETTING, isCiting, whatIfSentence } from './what-if-sentence.ts';

/** A run over so many events takes about a fifth of a second; over more it is left to who asks for it. */
const MOST_EVENTS = 1_000_000;

/** The analysis with one more advice for each such finding; the same where there is none. */
export function citeWhatIf(
  { findings, ...rest }: Analysis,
  context: Pick<DeviceContext, 'trace' | 'replay' | 'snapshot'>,
): Analysis {
  if (context.trace.kind === 'host' || !findings.some(isCiting)) return { findings, ...rest };
  const citation = citationOf(context);
  return {
    ...rest,
    findings: findings.map((finding) =>
      isCiting(finding) ? { ...finding, advice: withCitation(finding.advice, citation) } : finding,
    ),
  };
}

function citationOf({ trace, replay, snapshot }: Parameters<typeof citeWhatIf>[1]): string {
  if (trace.events.length > MOST_EVENTS) {
    return `What ${CITED_SETTING} would have come to is not run here for more than ${formatCount(MOST_EVENTS)} events: vramscope whatif does.`;
  }
  const conf = parseAllocConf(CITED_SETTING);
  if (!conf.ok) throw new Error(conf.message);
  const input = whatIfInput(trace, replay, snapshot.settings);
  const recorded = recordedRun(input, 1);
  const result = simulate(input, conf, { limitBytes: recorded.limit?.likelyBytes, parts: 1 });
  return `Simulated: ${CITED_SETTING} ${whatIfSentence(result, recorded)} (confidence ${result.confidence}; vramscope whatif compares settings).`;
}

/** Behind the advice that speaks of the setting, else at the end. */
function withCitation(advice: readonly string[], citation: string): readonly string[] {
  const at = advice.findIndex((text) => text.includes(CITED_SETTING.split(':')[0]));
  const end = at < 0 ? advice.length : at + 1;
  return [...advice.slice(0, end), citation, ...advice.slice(end)];
}
