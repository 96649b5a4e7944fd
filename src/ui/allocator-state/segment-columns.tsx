import type { RefObject } from 'react';
import { formatBytes, formatExactBytes } from '../../core/base/format.ts';

/** Heads of the list's columns, in the order of the grid in state.css. */
const COLUMNS = [
  { label: 'Segment', title: 'Address' },
  { label: 'Blocks by address', title: 'Each segment from its first byte to its last' },
  { label: 'Size', title: 'Bytes reserved for it' },
  { label: 'Used', title: 'Share that allocated and pending blocks hold' },
  { label: 'Largest gap', title: 'Largest free range' },
  { label: 'Age', title: 'Since it was allocated, or its first page mapped' },
  { label: 'Made by', title: 'The line whose request brought it' },
] as const;
const BAR_COLUMN = 1;

interface ListHeadProps {
  /** The head over the bars. */
  readonly barHead: RefObject<HTMLTableCellElement | null>;
}

export function ListHead({ barHead }: ListHeadProps) {
  return (
    <thead>
      <tr className="state-grid state-head">
        {COLUMNS.map(({ label, title }, index) => (
          <th
            key={label}
            ref={index === BAR_COLUMN ? barHead : undefined}
            scope="col"
            title={title}
          >
            {label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Bytes, short; every digit in the title. */
export function BytesCell({ bytes }: { readonly bytes: number }) {
  return (
    <td className="cell-number" title={formatExactBytes(bytes)}>
      {formatBytes(bytes)}
    </td>
  );
}
