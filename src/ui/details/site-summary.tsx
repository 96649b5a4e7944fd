import { formatBytes, formatCount } from '../../core/base/format.ts';
import type { AllocationDetails } from '../../core/query/types.ts';

/** What else the same stack allocated. */
export function SiteSummary({ details }: { readonly details: AllocationDetails }) {
  const { allocations, totalBytes, liveAtEnd, liveAtEndBytes } = details.site;
  return (
    <section aria-label="Same stack">
      <h2 className="details-heading">
        {details.allocStack.kind === 'recorded' ? 'Same call stack' : 'Without a stack as this one'}
      </h2>
      <dl className="details-facts">
        <div>
          <dt>Allocations</dt>
          <dd>
            {formatCount(allocations)}, {formatBytes(totalBytes)} in all
          </dd>
        </div>
        <div>
          <dt>Alive at the end</dt>
          <dd>
            {liveAtEnd === 0 ? 'none' : `${formatCount(liveAtEnd)}, ${formatBytes(liveAtEndBytes)}`}
          </dd>
        </div>
      </dl>
    </section>
  );
}
