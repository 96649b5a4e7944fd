/** OOM events that were no errors to the program: see replay/asked-again.ts. */
import { formatBytes, formatCount, plural } from '../base/format.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import { evidence, fingerprint, place } from './finding-parts.ts';
import { frameLocation } from './labels.ts';
import { SiteSums, sitePart } from './live-sites.ts';
import type { Finding } from './types.ts';

/** {@link Finding.kind} of these: nothing failed for good. */
export const ASKED_AGAIN = 'asked-again';

const TOP_PARTS = 8;

/** One finding for all of them. @param ooms in order, at least one */
export function retriedOomsFinding(study: AnalysisContext, ooms: readonly EventIndex[]): Finding {
  const { sizeBytes, stack } = study.input.trace.events;
  const sums = new SiteSums();
  for (const event of ooms) sums.add(stack[event], sizeBytes[event]);
  const sites = sums.largestFirst();
  const largest = ooms.reduce((a, b) => (sizeBytes[b] > sizeBytes[a] ? b : a));
  const bytes = sizeBytes[largest];
  const where = place(study, stack[largest]);
  const who = study.traits.isBackward(stack[largest]) ? 'backward' : frameLocation(where.frame);
  return {
    detector: 'oom',
    kind: ASKED_AGAIN,
    severity: 'low',
    bytes,
    claim: `${plural(ooms.length, 'request')} failed, and the same place asked again at once: no error came of it. cuDNN does so when it tries which workspace fits. The largest, of ${formatBytes(bytes)}, was made by ${who}.`,
    ...where,
    perStep: undefined,
    events: { first: ooms[0], last: ooms[ooms.length - 1] },
    parts: sites
      .slice(0, TOP_PARTS)
      .map((site) => sitePart(study, site, 'asked for in vain, all attempts together')),
    facts: [
      { label: 'attempts that failed', count: ooms.length },
      { label: 'the largest', bytes },
      { label: 'at event', text: formatCount(largest) },
    ],
    evidence: evidence(
      study,
      [],
      sites.slice(0, TOP_PARTS).map((site) => site.stack),
    ),
    series: undefined,
    advice: [
      'Nothing has to be done: torch.cuda.memory_stats() counts these in num_ooms, but the program saw no error.',
      'With more memory free cuDNN may choose faster algorithms. torch.backends.cudnn.benchmark = False makes fewer attempts.',
    ],
    disproof: 'The program stops with an OutOfMemoryError at one of these events.',
    fingerprint: fingerprint(study, 'oom', ASKED_AGAIN, stack[largest]),
  };
}
