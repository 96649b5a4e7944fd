import { formatCount, formatPercent } from '../../../base/format.ts';
import { type ClassTotal, classInfo, classTerm } from '../../../device/classes/types.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { Bytes } from '../../shared/bytes.tsx';
import { FilterLink } from '../../shared/filter-link.tsx';
import { TableHead } from '../../shared/table-head.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { classColors } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { Unanswered } from './section.tsx';

/** What active memory is made of after an event; a click filters all views to a class. */
export function ClassTable({ event }: { readonly event: EventIndex }) {
  const { value: totals, failure } = useQuery('classTotals', { event });
  if (totals === undefined) return <Unanswered failure={failure} />;
  const whole = totals.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <table className="summary-table summary-classes" aria-label="Active memory by class">
      <TableHead labels={['Class', 'Active', 'Share', 'Allocations']} />
      <tbody>
        {totals.map((total) => (
          <ClassRow key={total.class} total={total} whole={whole} />
        ))}
      </tbody>
    </table>
  );
}

interface ClassRowProps {
  readonly total: ClassTotal;
  /** Bytes of all classes. */
  readonly whole: number;
}

function ClassRow({ total, whole }: ClassRowProps) {
  const theme = useTheme();
  const { label, about } = classInfo(total.class);
  return (
    <tr>
      <th scope="row">
        <span
          className="class-swatch"
          style={{ background: classColors(theme, 'class')[total.class] }}
          aria-hidden
        />
        <FilterLink term={classTerm(total.class)} about={about}>
          {label}
        </FilterLink>
      </th>
      <Bytes as="td" bytes={total.bytes} />
      <td>{formatPercent(total.bytes / whole)}</td>
      <td>{formatCount(total.count)}</td>
    </tr>
  );
}
