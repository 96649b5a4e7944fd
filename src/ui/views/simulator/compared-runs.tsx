import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import { formatBytes, formatCount, formatExactBytes, formatPercent } from '../../../base/format.ts';
import type { CardFit } from '../../../worker/analysis/what-if-handler.ts';
import { cardText, cardTitle, settingName } from './labels.ts';

interface ComparedRunsProps {
  readonly recorded: RecordedRun;
  readonly recordedCard: CardFit | undefined;
  readonly result: WhatIfResult;
  readonly card: CardFit | undefined;
  /** Peak reserved had no free waited for another stream; undefined where none did. */
  readonly lowestBytes: number | undefined;
}

/** All figures of the two runs side by side. */
export function ComparedRuns(props: ComparedRunsProps) {
  const { recorded, recordedCard, result, card, lowestBytes } = props;
  const bytes = (value: number | undefined) => ({
    text: value === undefined ? 'unknown' : formatBytes(value),
    title: value === undefined ? 'The file has no final segments' : formatExactBytes(value),
  });
  const count = (value: number) => ({ text: formatCount(value), title: undefined });
  const share = (value: number | undefined) => ({
    text: value === undefined ? 'unknown' : formatPercent(value, 1),
    title: undefined,
  });
  const smallest = (value: CardFit | undefined) =>
    value === undefined
      ? { text: 'not searched', title: undefined }
      : {
          text: `${cardText(value)}${value.retries > 0 ? `, ${formatCount(value.retries)} retries` : ''}`,
          title: cardTitle(value),
        };
  const was = recorded.end;
  const is = result.end;
  const rows = [
    ['Peak reserved', bytes(recorded.peakReservedBytes), bytes(result.peakReservedBytes)],
    ...(lowestBytes === undefined
      ? []
      : [
          [
            '… without waiting for streams',
            { text: '', title: undefined },
            bytes(lowestBytes),
          ] as const,
        ]),
    ['Peak allocated', bytes(recorded.peakAllocatedBytes), bytes(result.peakAllocatedBytes)],
    ['Out of memory', count(recorded.ooms), count(result.ooms.length)],
    ['Retries', count(recorded.retries), count(result.retries)],
    ['cudaMalloc calls', count(recorded.deviceAllocs), count(result.deviceAllocs)],
    ['cudaFree calls', count(recorded.deviceFrees), count(result.deviceFrees)],
    ['Reserved at the end', bytes(was?.reservedBytes), bytes(is.reservedBytes)],
    ['Allocated at the end', bytes(was?.allocatedBytes), bytes(is.allocatedBytes)],
    ['Largest free block at the end', bytes(was?.largestFreeBytes), bytes(is.largestFreeBytes)],
    ['Fragmentation at the end', share(was?.fragmentation), share(is.fragmentation)],
    ['Smallest GPU', smallest(recordedCard), smallest(card)],
  ] as const;
  return (
    <table className="whatif-compared">
      <thead>
        <tr>
          <td />
          <th scope="col">Recorded</th>
          <th scope="col" title={settingName(result.settings)}>
            Chosen
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([label, before, after]) => (
          <tr key={label}>
            <th scope="row" title={ABOUT[label]}>
              {label}
            </th>
            <td title={before.title}>{before.text}</td>
            <td title={after.title}>{after.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ABOUT: Readonly<Record<string, string>> = {
  '… without waiting for streams':
    'Peak reserved if no free waited for another stream. A real run lies between this and the figure above.',
  Retries: 'How often PyTorch released its whole cache to serve one request',
  'cudaMalloc calls': 'cudaMalloc and cuMemMap since the first event',
  'cudaFree calls': 'cudaFree and cuMemUnmap since the first event',
  'Largest free block at the end': 'The largest request that would fit without new memory',
  'Smallest GPU': 'The smallest common GPU size that would fit all requests',
  'Fragmentation at the end': 'Share of free reserved memory outside the largest free block',
};
