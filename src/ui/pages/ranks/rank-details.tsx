import type { JobView, LineRow, RankDetails, RankRow } from '../../../analysis/ranks/job-view.ts';
import { formatBytes, plural } from '../../../base/format.ts';
import { classLabel } from '../../../device/classes/types.ts';
import { Button } from '../../shared/buttons.tsx';
import { Fact, TableHead } from '../../shared/facts.tsx';

const LINES_SHOWN = 12;

interface RankDetailsPanelProps {
  readonly job: JobView;
  readonly row: RankRow;
  readonly details: RankDetails | undefined;
  /** The rank to compare it with: the median of its role. */
  readonly middleRank: number | undefined;
  /** Undefined if only the summary is available. */
  readonly onOpen: (() => void) | undefined;
  /** Undefined if there is no rank to compare it with. */
  readonly onCompare: (() => void) | undefined;
}

/** One rank beside its role: what differs, and what to do next. */
export function RankDetailsPanel(props: RankDetailsPanelProps) {
  const { job, row, details, middleRank, onOpen, onCompare } = props;
  const role = job.roles[row.role];
  const { outlier } = row;
  return (
    <aside className="ranks-details column" aria-label={`Rank ${row.rank}`}>
      <h2>
        Rank {row.rank} <span className="dim">of role {role?.name}</span>
      </h2>
      <p className="dim">
        {row.path}, device {row.device}
      </p>
      {row.others.length > 0 && <p className="dim">Not shown: {row.others.join(', ')}</p>}
      {outlier !== undefined && (
        <p className="callout" data-tone="warning">
          {outlier.claim}
        </p>
      )}
      <dl className="row">
        <Fact term="allocated">{formatBytes(row.allocatedBytes ?? Number.NaN)}</Fact>
        <Fact term="reserved">{formatBytes(row.reservedBytes ?? Number.NaN)}</Fact>
        <Fact term="steps">{row.steps === 0 ? 'none found' : row.steps}</Fact>
        {row.ooms > 0 && <Fact term="out of memory">{plural(row.ooms, 'time')}</Fact>}
      </dl>
      <div className="button-row">
        {onOpen !== undefined && (
          <Button isPrimary onClick={onOpen}>
            Open its snapshot
          </Button>
        )}
        {onCompare !== undefined && (
          <Button onClick={onCompare}>Compare with rank {middleRank}</Button>
        )}
      </div>
      {onOpen === undefined && (
        <p className="dim">Only its summary was given. Give its snapshot too to look inside.</p>
      )}
      {details !== undefined && details.verdict !== '' && (
        <p>
          <strong>By itself:</strong> {details.verdict}
        </p>
      )}
      {details !== undefined && <Lines details={details} />}
    </aside>
  );
}

function Lines({ details: { lines, leftOut, peers } }: { readonly details: RankDetails }) {
  const hasRole = lines.some(({ roleBytes }) => roleBytes !== null);
  const rowOf = ({ label, bytes, roleBytes, class: name }: LineRow, index: number) => (
    // Several lines may have one label.
    <tr key={index}>
      <td title={name === null ? label : `${label}: ${classLabel(name)}`}>
        <code>{label}</code>
      </td>
      <td
        className="figure"
        data-far={(roleBytes !== null && bytes > 1.05 * roleBytes) || undefined}
      >
        {formatBytes(bytes)}
      </td>
      {hasRole && <td className="figure">{formatBytes(roleBytes ?? Number.NaN)}</td>}
    </tr>
  );
  return (
    <>
      <h3>{hasRole ? `What differs from ${peers}, at the peaks` : 'What it holds at its peak'}</h3>
      <table className="rank-lines">
        <TableHead labels={['Line', 'This rank', ...(hasRole ? [peers] : [])]} />
        <tbody>{lines.slice(0, LINES_SHOWN).map(rowOf)}</tbody>
      </table>
      {leftOut.length > 0 && <p className="dim">Not in the summary: {leftOut.join(', ')}.</p>}
    </>
  );
}
