/** Words for settings, cards and confidence, the same wherever they stand. */
import { formatBytes, plural } from '../../core/base/format.ts';
import { limitOfCard } from '../../core/simulator/smallest-card.ts';
import type { Confidence } from '../../core/simulator/types.ts';
import type { CardFit } from '../../engine/analysis/what-if-handler.ts';

export function settingName(settings: string): string {
  return settings === '' ? 'The default allocator' : settings;
}

export function cardText({ gib }: CardFit): string {
  return gib === undefined ? 'none' : `${gib} GiB`;
}

export function cardTitle({ gib, retries }: CardFit): string {
  if (gib === undefined) return 'No common card has as much memory as this needs';
  const left = `A card of ${gib} GiB leaves ${formatBytes(limitOfCard(gib))} for PyTorch, and serves all requests`;
  if (retries === 0) return left;
  return `${left}, but gives back all that it caches ${plural(retries, 'time')}: slow`;
}

export const CONFIDENCE_TEXT: Readonly<Record<Confidence, string>> = {
  high: "The allocator's rules decide all of it.",
  medium: 'The peaks may shift with what the trace does not tell.',
  low: 'A run under other settings would have asked for other things.',
};
