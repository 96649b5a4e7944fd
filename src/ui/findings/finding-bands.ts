/** Where on the timeline a finding is. */
import { detectorOf, type Finding } from '../../core/findings/detectors.ts';
import type { Band } from '../plot/bands.ts';

/** One stretch, from the first event of the evidence to behind the last. */
export function bandsOf(finding: Pick<Finding, 'detector' | 'events'>): Band[] {
  const { events } = finding;
  const fromEvent = Math.max(0, events.first);
  return [
    { fromEvent, toEvent: Math.max(fromEvent, events.last) + 1, ...detectorOf(finding).band },
  ];
}
