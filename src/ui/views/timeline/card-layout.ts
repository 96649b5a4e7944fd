/**
 * Stacks a card's samples as bands, from the bottom up to the card's capacity. What was freed behind the allocator is a
 * band below the zero line, because PyTorch still counts it above.
 */
import { extent, type SeriesPoint, stack, stackOffsetDiverging } from 'd3';
import { groupBy } from '../../../base/collections.ts';
import {
  type CardHistory,
  type CardSample,
  KINDS,
  rowKey,
  rowLabel,
} from '../../../device/model/card.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { LedgerRow } from '../../../device/model/ledger.ts';
import type { PlotAxis } from '../../../draw/timeline/types.ts';
import { endOf, toPlotX } from '../../plot/viewport-of.ts';

type Kind = LedgerRow['kind'];

export interface CardBand {
  /** Of the same row in all samples. */
  readonly key: string;
  readonly kind: Kind;
  readonly label: string;
  /** Lower and upper edge in each sample, in bytes. */
  readonly edges: readonly SeriesPoint<CardSample>[];
}

export interface CardLayout {
  readonly samples: readonly CardSample[];
  /** Where each sample begins on the axis, ascending. It holds until the next. */
  readonly xs: Float64Array;
  readonly bands: readonly CardBand[];
  readonly lowestBytes: number;
  readonly highestBytes: number;
}

export function cardLayout(
  { samples }: CardHistory,
  axis: PlotAxis,
  device: Pick<DeviceInfo, 'events' | 'durationUs' | 'folds'>,
): CardLayout {
  const byKey = groupBy(
    samples.flatMap(({ rows }) => rows),
    rowKey,
  );
  const keys = [...byKey].sort(
    ([, [a]], [, [b]]) => KINDS.indexOf(kindOf(a)) - KINDS.indexOf(kindOf(b)),
  );
  const series = stack<CardSample, string>()
    .keys(keys.map(([key]) => key))
    .value(({ rows }, key) => rows.find((row) => rowKey(row) === key)?.bytes ?? 0)
    .offset(stackOffsetDiverging)(samples);
  const bands = series.flatMap((edges) => {
    const [row] = byKey.get(edges.key) ?? [];
    return row === undefined
      ? []
      : [{ key: edges.key, kind: row.kind, label: rowLabel(row), edges }];
  });
  const [lowestBytes = 0, highestBytes = 0] = extent(bands.flatMap(({ edges }) => edges.flat()));
  return { samples, xs: placesOf(samples, axis, device), bands, lowestBytes, highestBytes };
}

const kindOf = (row: LedgerRow | undefined): Kind => row?.kind ?? 'free';

/** Samples from before the first event begin at it; those after the last end with the axis. */
function placesOf(
  samples: readonly CardSample[],
  axis: PlotAxis,
  device: Pick<DeviceInfo, 'events' | 'durationUs' | 'folds'>,
): Float64Array {
  const end = endOf(device as DeviceInfo, axis);
  return Float64Array.from(samples, ({ event, timeUs }) => {
    const x = axis === 'event' ? event : toPlotX(device, axis, timeUs);
    return Math.min(end, Math.max(0, x || 0));
  });
}

/** A run of samples on one pixel column or wider: shown is the one with the least free memory. */
export interface CardColumn {
  readonly left: number;
  readonly right: number;
  readonly sample: number;
}

/** In CSS pixels from the left edge, for x0 to x1 on `width` pixels. */
export function cardColumns(
  { samples, xs }: CardLayout,
  toX: (x: number) => number,
  width: number,
  endX: number,
): readonly CardColumn[] {
  const freeOf = (at: number) => samples[at]?.rows.find(({ kind }) => kind === 'free')?.bytes ?? 0;
  const end = Math.min(width, toX(endX));
  // The last samples may lie at the very end of the axis.
  const leftOf = (at: number) => Math.min(toX(xs[at] ?? endX), end - LEAST_WIDTH);
  const columns: CardColumn[] = [];
  for (let at = 0; at < xs.length; ) {
    const left = leftOf(at);
    let next = at + 1;
    let sample = at;
    for (; next < xs.length && leftOf(next) < left + LEAST_WIDTH; next++) {
      if (freeOf(next) < freeOf(sample)) sample = next;
    }
    const right = next < xs.length ? leftOf(next) : end;
    // On whole pixels, so that no seam shows between two samples.
    if (right > 0 && left < width)
      columns.push({ left: Math.round(Math.max(0, left)), right: Math.round(right), sample });
    at = next;
  }
  return columns;
}

/** CSS pixels. */
const LEAST_WIDTH = 2;
