import { formatBytes, formatCount, plural } from '../../../base/format.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import type { SegmentContent, SegmentUse } from '../../../draw/address-map/address-hits.ts';
import type { SegmentLife } from '../../../draw/address-map/segment-lives.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { Bytes, Fact } from '../../shared/facts.tsx';
import { lifeText, segmentKindText } from '../../shared/segment-content.tsx';
import { useDevice } from '../../shared/services.ts';
import { StackList } from '../../shared/stack-list.tsx';
import { useQuery } from '../../shared/use-query.ts';

interface SegmentPanelProps {
  /** -1 for none. */
  readonly segment: SegmentLife;
}

/** What the pinned segment is, what it holds at the cursor, who made it and who gave it back. */
export function SegmentPanel({ segment }: SegmentPanelProps) {
  const { device } = useDevice();
  const cursor = useView((view) => view.cursor);
  const state = Math.min(cursor ?? device.events - 1, device.events - 1);
  const request = segment < 0 ? undefined : { segment, state };
  const { value, failure } = useQuery('segmentUse', request);
  if (failure !== undefined) {
    return (
      <section className="segment-panel" aria-label="Segment" role="alert">
        Could not read the segment: {failure}
      </section>
    );
  }
  if (request === undefined) {
    return (
      <section className="segment-panel segment-hint" aria-label="Segment">
        <p className="dim">
          Click a segment to see its size, its contents and the line that created it.
        </p>
      </section>
    );
  }
  if (value === undefined) return <section className="segment-panel" aria-label="Segment" />;
  return (
    <section className="segment-panel" aria-label="Segment">
      <SegmentFactList found={value} state={state} />
      <div className="segment-stack">
        <h2 className="details-heading">Created by</h2>
        <StackList stack={value.facts.stack} />
      </div>
      {value.facts.releaseStack !== undefined && (
        <div className="segment-stack">
          <h2 className="details-heading">Given back by</h2>
          <StackList stack={value.facts.releaseStack} />
        </div>
      )}
    </section>
  );
}

interface SegmentFactListProps {
  readonly found: SegmentUse;
  readonly state: EventIndex;
}

function SegmentFactList({ found, state }: SegmentFactListProps) {
  const { view } = useStores();
  const { facts, use } = found;
  const filter = () => view.commit({ search: addTerm(view.getState().view.search, facts.label) });
  return (
    <div className="segment-facts">
      <p className="segment-name">
        <Bytes as="strong" bytes={facts.sizeBytes} />
        <code>{facts.label}</code>
        <button
          type="button"
          className="button"
          title="Filter all views to the blocks that were in it"
          onClick={filter}
        >
          Filter
        </button>
      </p>
      <dl className="details-facts">
        <Fact term="Kind">{segmentKindText(facts)}</Fact>
        <Fact term="Stream">{facts.stream}</Fact>
        <Fact term="Reserved">{lifeText(facts)}</Fact>
        <Fact term={`At event ${formatCount(state)}`}>
          {use === undefined ? 'not reserved' : contentText(use)}
        </Fact>
      </dl>
    </div>
  );
}

/** '6.80 MiB used by 2 blocks; largest free range 3.20 MiB' */
function contentText({ blocks, usedBytes, largestFreeBytes }: SegmentContent): string {
  if (blocks === 0) return 'completely free';
  const count = plural(blocks, 'block');
  const used = `${formatBytes(usedBytes)} used by ${count}`;
  if (largestFreeBytes === 0) return `${used}; completely full`;
  return `${used}; largest free range ${formatBytes(largestFreeBytes)}`;
}
