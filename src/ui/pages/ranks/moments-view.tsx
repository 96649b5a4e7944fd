import { growthOf } from '../../../analysis/compare/series.ts';
import type { RankMoments } from '../../../analysis/ranks/moments.ts';
import { fileName } from '../../../base/file-names.ts';
import { formatBytes, formatExactBytes } from '../../../base/format.ts';
import { classLabel } from '../../../device/classes/types.ts';
import { Button } from '../../shared/buttons.tsx';
import { Bytes, TableHead } from '../../shared/facts.tsx';
import { SmallChart } from '../../shared/small-chart.tsx';

type Dump = RankMoments['dumps'][number];
type Line = RankMoments['lines'][number];

interface MomentsViewProps extends RankMoments {
  readonly onOpen: (path: string) => void;
  /** Undefined if a summary stands for one of them. */
  readonly onCompare: (() => void) | undefined;
}

const LINES_SHOWN = 40;

/** The dumps of one process as one timeline, and what grew between them. */
export function MomentsView({ dumps, lines, onOpen, onCompare }: MomentsViewProps) {
  const most = Math.max(1, ...dumps.flatMap(({ curve }) => curve.reservedBytes));
  const changed = lines.filter(({ bytes }) => growthOf(bytes) !== 0);
  const shown = changed.slice(0, LINES_SHOWN);
  return (
    <div className="fill moments">
      <section className="moments-timeline" aria-label="Timeline of dumps">
        {dumps.map((dump, i) => (
          <DumpButton key={dump.path} dump={dump} place={i} most={most} onOpen={onOpen} />
        ))}
      </section>
      <p className="inline-row dim">
        Allocated in reserved memory, each dump at the same scale. Click one to open it.
        {onCompare !== undefined && (
          <Button onClick={onCompare}>Compare the first with the last</Button>
        )}
      </p>
      <h2>What changed between the dumps</h2>
      {shown.length === 0 ? (
        <p className="dim">Every line holds as much in the last dump as in the first.</p>
      ) : (
        <table className="moments-lines" aria-label="What changed between the dumps">
          <TableHead labels={['Line', 'Class', ...dumps.map(nameOf), 'Growth']} />
          <tbody>{shown.map(lineRow)}</tbody>
        </table>
      )}
      {changed.length > shown.length && (
        <p className="dim">{changed.length - shown.length} more lines changed by less.</p>
      )}
    </div>
  );
}

const nameOf = ({ moment, path }: Dump, place: number): string =>
  moment || fileName(path) || `${place + 1}`;

function lineRow({ label, class: own, bytes, grows }: Line) {
  const growth = growthOf(bytes);
  return (
    <tr key={label}>
      <td>
        <code>{label}</code>
      </td>
      <td className="dim">{own === null ? '' : classLabel(own)}</td>
      {bytes.map((one, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a dump has no other identity
        <Bytes key={i} as="td" bytes={one} />
      ))}
      <td data-far={(grows && growth > 0) || undefined} title={formatExactBytes(growth)}>
        {growth > 0 ? '+' : ''}
        {formatBytes(growth)}
      </td>
    </tr>
  );
}

interface DumpButtonProps {
  readonly dump: Dump;
  readonly place: number;
  /** The top of the scale that all dumps share. */
  readonly most: number;
  readonly onOpen: (path: string) => void;
}

function DumpButton({ dump, place, most, onOpen }: DumpButtonProps) {
  const { curve, allocatedBytes, path } = dump;
  const name = nameOf(dump, place);
  const bytes = formatBytes(allocatedBytes ?? Number.NaN);
  return (
    <Button className="moments-dump" title={`Open ${path}`} onClick={() => onOpen(path)}>
      <SmallChart
        className="moments-chart"
        reservedBytes={curve.reservedBytes}
        liveBytes={curve.allocatedBytes}
        most={most}
      />
      <span>{name}</span>
      <span className="dim">{bytes} at its end</span>
    </Button>
  );
}
