import { formatBytes, formatCount } from '../../core/base/format.ts';
import type { AllocationDetails } from '../../core/device/types.ts';
import { siteTerm } from '../../core/search/qualifiers/site.ts';
import { FilterLink } from './filter-link.tsx';

/** What else the same stack allocated. */
export function SiteSummary({ details }: { readonly details: AllocationDetails }) {
  const { allocations, totalBytes, liveAtEnd, liveAtEndBytes } = details.callSite;
  return (
    <section aria-label="Same stack">
      <h2 className="details-heading">
        {details.allocStack.kind === 'recorded' ? 'Same call stack' : 'Without a stack as this one'}
      </h2>
      <dl className="details-facts">
        <div>
          <dt>Allocations</dt>
          <dd>
            <FilterLink term={siteTerm(details.label)}>
              {formatCount(allocations)}, {formatBytes(totalBytes)} in all
            </FilterLink>
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
