import { formatBytes, formatCount, plural } from '../../../base/format.ts';
import type { AddressSlot, AddressSlots } from '../../../draw/address-map/address-layout.ts';
import { Bytes, TableHead } from '../../shared/facts.tsx';

const LABELS: Readonly<Record<AddressSlot['kind'], string>> = {
  small: 'small pool',
  large: 'large pool',
  'expandable small': 'expandable, small pool',
  'expandable large': 'expandable, large pool',
  private: 'private pools',
  several: 'used by several pools',
  unknown: 'unknown segment',
};

/** What the map consists of: ranges of addresses that were ever reserved, by pool. */
export function SlotKinds({ slots }: { readonly slots: AddressSlots }) {
  const count = slots.slots.length;
  return (
    <details className="slot-kinds">
      <summary title="Address ranges that were reserved at any time, shown next to each other">
        <span className="slot-total">{formatBytes(slots.totalBytes)} of addresses in </span>
        {plural(count, 'range')}
      </summary>
      <div className="floating slot-box">
        <table>
          <TableHead labels={['Pool', 'Ranges', 'Segments', 'Addresses']} />
          <tbody>
            {kindsOf(slots.slots).map(({ kind, ranges, segments, sizeBytes }) => (
              <tr key={kind}>
                <th scope="row">{LABELS[kind]}</th>
                <td>{formatCount(ranges)}</td>
                <td>{formatCount(segments)}</td>
                <Bytes as="td" bytes={sizeBytes} />
              </tr>
            ))}
          </tbody>
        </table>
        <p className="dim">
          Over the whole trace: ranges that were released and reserved again count once, so the
          total can exceed what was reserved at any one time.
        </p>
        {slots.strays > 0 && (
          <p className="dim">
            {formatCount(slots.strays)} allocations lie outside all segments in the file; they have
            their own ranges.
          </p>
        )}
      </div>
    </details>
  );
}

interface Kind {
  readonly kind: AddressSlot['kind'];
  ranges: number;
  segments: number;
  sizeBytes: number;
}

/** The largest first. */
export function kindsOf(slots: readonly AddressSlot[]): readonly Readonly<Kind>[] {
  const kinds = new Map<AddressSlot['kind'], Kind>();
  for (const { kind, segments, sizeBytes } of slots) {
    const known = kinds.get(kind) ?? { kind, ranges: 0, segments: 0, sizeBytes: 0 };
    known.ranges++;
    known.segments += segments;
    known.sizeBytes += sizeBytes;
    kinds.set(kind, known);
  }
  return [...kinds.values()].sort((a, b) => b.sizeBytes - a.sizeBytes);
}
