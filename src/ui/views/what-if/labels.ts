/** Words for settings, cards and confidence, the same wherever they stand. */
import { limitOfCard } from '../../../allocator/simulator/presets.ts';
import type { Confidence } from '../../../allocator/simulator/types.ts';
import { formatBytes, plural } from '../../../base/format.ts';
import type { CardFit } from '../../../worker/analysis/what-if-handler.ts';

export function settingName(settings: string): string {
  return settings === '' ? 'Default settings' : settings;
}

export function cardText({ gib }: CardFit): string {
  return gib === undefined ? 'none' : `${gib} GiB`;
}

export function cardTitle({ gib, retries }: CardFit): string {
  if (gib === undefined) return 'This needs more memory than any common GPU has';
  const left = `A GPU with ${gib} GiB leaves ${formatBytes(limitOfCard(gib))} for PyTorch, enough for all requests`;
  if (retries === 0) return left;
  return `${left}, but slow: PyTorch would release its whole cache ${plural(retries, 'time')}`;
}

export const CONFIDENCE_TEXT: Readonly<Record<Confidence, string>> = {
  high: "The allocator's rules alone decide the result.",
  medium: 'The peaks may shift with facts that the trace does not record.',
  low: 'A run under other settings would have requested other allocations.',
};
