import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatPercent,
} from '../../core/base/format.ts';
import { type ClassTotal, classInfo, classTerm } from '../../core/classes/types.ts';
import { hasTerm, toggleTerm } from '../../core/search/edit-search.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useQuery } from '../shared/use-query.ts';
import { classColors } from '../theme/palette.ts';
import { useTheme } from '../theme/use-theme.ts';
import { Unanswered } from './section.tsx';

/** What active memory is made of after an event; a click filters all views to a class. */
export function ClassTable({ event }: { readonly event: EventIndex }) {
  const { value: totals, failure } = useQuery('classTotals', { event });
  if (totals === undefined) return <Unanswered failure={failure} />;
  const whole = totals.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <table className="summary-table summary-classes" aria-label="Active memory by class">
      <thead>
        <tr>
          <th scope="col">Class</th>
          <th scope="col">Active</th>
          <th scope="col">Share</th>
          <th scope="col">Allocations</th>
        </tr>
      </thead>
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
  const { view } = useStores();
  const theme = useTheme();
  const { label, about } = classInfo(total.class);
  const term = classTerm(total.class);
  const isOn = useView(({ search }) => hasTerm(search, term));
  return (
    <tr>
      <th scope="row">
        <span
          className="class-swatch"
          style={{ background: classColors(theme, 'class')[total.class] }}
          aria-hidden
        />
        <button
          type="button"
          className="filter-link"
          aria-pressed={isOn}
          title={`${about}\n${isOn ? 'Clear filter' : 'Filter to these'}: ${term}`}
          onClick={() => view.commit({ search: toggleTerm(view.getState().view.search, term) })}
        >
          {label}
        </button>
      </th>
      <td title={formatExactBytes(total.bytes)}>{formatBytes(total.bytes)}</td>
      <td>{formatPercent(total.bytes / whole)}</td>
      <td>{formatCount(total.count)}</td>
    </tr>
  );
}
