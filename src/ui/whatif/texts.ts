/** Words for settings, cards and confidence, the same wherever they stand. */
import { formatBytes } from '../../core/base/format.ts';
import { limitOfCard } from '../../core/whatif/cards.ts';
import type { Confidence } from '../../core/whatif/types.ts';
import type { CardFit } from '../../engine/analysis/what-if-answer.ts';

export function settingName(settings: string): string {
  return settings === '' ? 'The default allocator' : settings;
}

export function cardText(card: CardFit): string {
  return card === 'none' ? 'none is large enough' : `${card} GiB`;
}

export function cardTitle(card: CardFit): string {
  if (card === 'none') return 'No common card has as much memory as this needs';
  return `A card of ${card} GiB leaves ${formatBytes(limitOfCard(card))} for PyTorch; the next smaller one runs out`;
}

export const CONFIDENCE_TEXT: Readonly<Record<Confidence, string>> = {
  high: "The allocator's rules decide all of it.",
  medium: 'The peaks may shift with what the trace does not tell.',
  low: 'A run under other settings would have asked for other things.',
};
