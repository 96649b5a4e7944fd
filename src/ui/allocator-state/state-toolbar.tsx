import { ChevronsDownUp, ChevronsUpDown } from 'lucide-react';
import type { SegmentOrder } from '../../core/allocator-state/segment-groups.ts';

interface StateToolbarProps {
  readonly order: SegmentOrder;
  readonly onOrder: (order: SegmentOrder) => void;
  readonly areAllFolded: boolean;
  readonly onFoldAll: () => void;
}

const ORDERS: readonly { readonly order: SegmentOrder; readonly label: string }[] = [
  { order: 'address', label: 'Address' },
  { order: 'size', label: 'Size' },
  { order: 'free', label: 'Most free' },
];

export function StateToolbar(props: StateToolbarProps) {
  const { order, onOrder, areAllFolded, onFoldAll } = props;
  const FoldIcon = areAllFolded ? ChevronsUpDown : ChevronsDownUp;
  return (
    <div className="state-toolbar">
      <span className="dim">Order</span>
      <fieldset className="segmented" aria-label="Order of the segments">
        {ORDERS.map((entry) => (
          <button
            key={entry.order}
            type="button"
            aria-pressed={entry.order === order}
            onClick={() => onOrder(entry.order)}
          >
            {entry.label}
          </button>
        ))}
      </fieldset>
      <button type="button" className="button" onClick={onFoldAll}>
        <FoldIcon size={13} aria-hidden />
        {areAllFolded ? 'Unfold all' : 'Fold all'}
      </button>
      <span className="spacer" />
      <ul className="state-legend" aria-label="What the bars show">
        <li>
          <span className="legend-free" aria-hidden /> free
        </li>
        <li>
          <span className="legend-pending" aria-hidden /> freed, awaiting a stream
        </li>
      </ul>
    </div>
  );
}
