import { formatCount } from '../../core/base/format.ts';
import type { TooltipContent } from '../plot/tooltip.ts';
import { countText, groupPlace, shareText, type WeightFormat } from './flame-labels.ts';
import type { BoxIndex, FlameLayout } from './flame-layout.ts';
import { boxLabel } from './paint-flame.ts';

/** How the figures of this graph are written. */
export interface FlameFigures {
  readonly format: WeightFormat;
  readonly isDifference: boolean;
  readonly hasSearch: boolean;
}

export function boxTooltip(
  layout: FlameLayout,
  box: BoxIndex,
  { format, isDifference, hasSearch }: FlameFigures,
): TooltipContent {
  const { boxes, total } = layout.graph;
  const [value, magnitude] = [boxes.value[box] ?? 0, boxes.magnitude[box] ?? 0];
  const group = layout.groupOf(box);
  const place = group === undefined ? '' : groupPlace(group);
  const share = `${shareText(magnitude, total.magnitude)} of ${isDifference ? 'all change' : 'all'}`;
  const lines = [
    ...(place === '' ? [] : [place]),
    `${format.exact(value)}, ${share}`,
    countText(boxes.count[box] ?? 0, isDifference),
  ];
  if (hasSearch)
    lines.push(`${shareText(boxes.matched[box] ?? 0, magnitude)} of it matches the search`);
  if ((boxes.hidden[box] ?? 0) > 0) {
    return { title: hiddenTitle(boxes.hidden[box] ?? 0), label: format.short(value), lines };
  }
  return { title: boxLabel(layout, box), label: format.short(value), lines };
}

const hiddenTitle = (count: number): string =>
  count === 1 ? 'one frame too small to see' : `${formatCount(count)} frames too small to see`;
