/** Where on the timeline a finding is. */
import type { DetectorId, Finding } from '../../core/findings/types.ts';
import type { Band, BandStyle } from '../plot/bands.ts';

const BANDS: Readonly<Record<DetectorId, { readonly style: BandStyle; readonly label: string }>> = {
  growth: { style: 'growth', label: 'grows' },
  oom: { style: 'oom', label: 'out of memory' },
  fragmentation: { style: 'gap', label: 'gaps' },
  'no-grad': { style: 'growth', label: 'graphs without backward' },
  peak: { style: 'peak', label: 'peak' },
  'pending-free': { style: 'pending', label: 'waits for a stream' },
  churn: { style: 'other', label: 'segments taken again' },
  waste: { style: 'peak', label: 'peak' },
};

/** One stretch, from the first event of the evidence to behind the last. */
export function bandsOf({ detector, events }: Pick<Finding, 'detector' | 'events'>): Band[] {
  const fromEvent = Math.max(0, events.first);
  return [{ fromEvent, toEvent: Math.max(fromEvent, events.last) + 1, ...BANDS[detector] }];
}
