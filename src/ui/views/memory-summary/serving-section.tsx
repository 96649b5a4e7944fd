import type { ReactNode } from 'react';
import { highest } from '../../../base/extremes.ts';
import { formatBytes, formatCount, formatPercent } from '../../../base/format.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import {
  type ServingLens,
  type ServingPool,
  servingPartText,
} from '../../../device/serving/serving-lens.ts';
import { servingNotes } from '../../../device/serving/serving-notes.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { poolLabel } from '../../../output/report/serving.ts';
import { Bytes } from '../../shared/facts.tsx';
import { FilterLink } from '../../shared/selection.tsx';
import { SmallChart } from '../../shared/small-chart.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { Section, SummaryTable } from './section.tsx';

interface ServingSectionProps {
  /** The state after it. */
  readonly event: EventIndex;
  readonly head: ReactNode;
}

/** A server's memory by part, and the private pools; nothing for programs that have neither. */
export function ServingSection({ event, head }: ServingSectionProps) {
  const { value: lens } = useQuery('serving', { event });
  if (lens === undefined) return null;
  return (
    <Section title={lens.isServer ? 'Serving' : 'Private pools'} head={head}>
      {lens.isServer && <PartTable {...lens} />}
      {lens.pools.length > 0 && <PoolTable {...lens} />}
      {servingNotes(lens).map((note) => (
        <p key={note}>{note}</p>
      ))}
    </Section>
  );
}

function PartTable({ parts }: ServingLens) {
  const whole = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <SummaryTable
      className="summary-classes"
      label="Reserved memory by part"
      columns={['Part', 'Reserved', 'Share', 'Blocks']}
    >
      {parts.map(({ part, bytes, blocks }) => {
        const { label, about } = servingPartText(part);
        return (
          <tr key={part}>
            <th scope="row" title={about}>
              {label}
            </th>
            <Bytes as="td" bytes={bytes} />
            <td>{formatPercent(bytes / whole)}</td>
            <td>{blocks > 0 && formatCount(blocks)}</td>
          </tr>
        );
      })}
      <tr data-part>
        <th scope="row">reserved</th>
        <Bytes as="td" bytes={whole} />
        <td />
        <td />
      </tr>
    </SummaryTable>
  );
}

function PoolTable({ pools }: ServingLens) {
  return (
    <SummaryTable
      className="summary-pools"
      label="Private pools"
      columns={['Pool', 'Reserved', 'Live', 'Stranded', 'Peak live', 'Over the recording']}
    >
      {pools.map((pool) => (
        <tr key={pool.id}>
          <th scope="row">
            <FilterLink
              term={searchTerm('pool', pool.id)}
              about={
                pool.line === undefined
                  ? 'No line of your code is known to allocate in it.'
                  : `Mostly by ${frameLabel(pool.line)}`
              }
            >
              {poolLabel(pool)}
            </FilterLink>
          </th>
          <Bytes as="td" bytes={pool.reservedBytes} />
          <Bytes as="td" bytes={pool.liveBytes} />
          <Bytes as="td" bytes={pool.strandedBytes} />
          <Bytes as="td" bytes={pool.peakLiveBytes} />
          <td>
            <PoolChart {...pool} />
          </td>
        </tr>
      ))}
    </SummaryTable>
  );
}

function PoolChart({ id, curve }: ServingPool) {
  const most = highest([1, ...curve.reservedBytes, ...curve.liveBytes]);
  const label = `Pool ${id} over the recording: reserved at most ${formatBytes(most)}`;
  return <SmallChart className="pool-chart" {...curve} most={most} label={label} />;
}
