import { formatBytes, formatCount, formatExactBytes } from '../../core/base/format.ts';
import type { DeviceInfo, OomInfo, SessionInfo } from '../../core/query/types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { FreeMemory } from '../../core/timeline/address-free.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useView } from '../../state/stores.ts';
import { useAnswer } from '../cursor/use-answer.ts';

interface FreeFactsProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

interface FreeQuestion {
  readonly device: number;
  readonly state: EventIndex;
}

const askFree = (session: SessionApi, question: FreeQuestion) => session.freeMemory(question);

/** What is free at the cursor, and at an OOM whether it would have been enough. */
export function FreeFacts({ info, device }: FreeFactsProps) {
  const cursor = useView((view) => view.cursor);
  const state = Math.min(cursor ?? device.events - 1, device.events - 1);
  const { value, failure } = useAnswer(askFree, { device: device.index, state }, info);
  if (failure !== undefined) return <p role="alert">The free memory is not known: {failure}</p>;
  const oom = device.ooms.find(({ event }) => event === state);
  return (
    <p className="free-facts" aria-live="polite">
      <span className="dim">{cursor === undefined ? 'At the end' : 'At the cursor'}</span>{' '}
      {value !== undefined && <Figures free={value} />}
      {value !== undefined && oom !== undefined && (
        <strong className="free-verdict">{oomText(oom, value)}</strong>
      )}
      {!hasSegmentEvents(device) && (
        <span className="dim">
          No segment events are in this trace: every segment is drawn as if it had always been
          there.
        </span>
      )}
    </p>
  );
}

function Figures({ free }: { readonly free: FreeMemory }) {
  const { freeBytes, largestBytes, ranges } = free;
  if (freeBytes === 0) return <>nothing of the reserved memory is free. </>;
  return (
    <>
      <b title={formatExactBytes(freeBytes)}>{formatBytes(freeBytes)}</b> free in{' '}
      {formatCount(ranges)} {ranges === 1 ? 'range' : 'ranges'}, the largest{' '}
      <b title={formatExactBytes(largestBytes)}>{formatBytes(largestBytes)}</b>.{' '}
    </>
  );
}

/** Free memory is that of all pools and streams: where a range would fit, it is not of the right one. */
export function oomText({ requestedBytes }: OomInfo, free: FreeMemory): string {
  const asked = `OOM: ${formatBytes(requestedBytes)} asked for,`;
  if (requestedBytes > free.freeBytes) return `${asked} more than all of it`;
  if (requestedBytes > free.largestBytes) return `${asked} no range fits`;
  return `${asked} a range fits, but is of another pool or stream`;
}

function hasSegmentEvents({ actions }: DeviceInfo): boolean {
  const words = ['segment_alloc', 'segment_free', 'segment_map', 'segment_unmap'];
  return words.some((word) => (actions[word] ?? 0) > 0);
}
