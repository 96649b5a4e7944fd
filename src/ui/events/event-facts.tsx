import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
} from '../../core/base/format.ts';
import type { EventDetails } from '../../core/lists/event-list-types.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { COUNTERS } from '../shared/counters.ts';
import { Fact } from '../shared/fact.tsx';

interface EventFactsProps {
  readonly details: EventDetails;
  readonly onGoTo: (event: number) => void;
}

/** All fields of an event. */
export function EventFacts({ details, onGoTo }: EventFactsProps) {
  const { address, sizeBytes, blockBytes, deviceFreeBytes, related } = details;
  const isOom = details.action === 'oom';
  return (
    <dl className="details-facts">
      {!Number.isNaN(details.timeUs) && <Fact term="Time">{formatDurationUs(details.timeUs)}</Fact>}
      <Fact term={isOom ? 'Asked for' : 'Size'}>{formatExactBytes(sizeBytes)}</Fact>
      {isOom && <Fact term="Free on device">{formatExactBytes(deviceFreeBytes)}</Fact>}
      {!Number.isNaN(blockBytes) && <Fact term="Block">{formatExactBytes(blockBytes)}</Fact>}
      {address !== '' && (
        <Fact term="Address">
          <CopyButton text={address} label="address" className="details-label">
            {address}
          </CopyButton>
        </Fact>
      )}
      {related.length > 0 && (
        <Fact term="Belongs with">
          <Related related={related} onGoTo={onGoTo} />
        </Fact>
      )}
      <Fact term="Stream">{details.stream}</Fact>
      {details.pool !== undefined && (
        <Fact term="Pool">{[details.pool, details.privatePool].filter(Boolean).join(' ')}</Fact>
      )}
      {COUNTERS.map(({ name, label, about }) => (
        <Fact key={name} term={label} title={`${about}, after the event`}>
          <span title={formatExactBytes(details.counters[name])}>
            {formatBytes(details.counters[name])}
          </span>
        </Fact>
      ))}
      {details.category !== undefined && <Fact term="Category">{details.category}</Fact>}
      {details.compileContext !== undefined && (
        <Fact term="Compile context">{details.compileContext}</Fact>
      )}
      {details.userMetadata !== undefined && <Fact term="Metadata">{details.userMetadata}</Fact>}
      {details.unknownKeys.map(({ key, value }) => (
        <Fact key={key} term={key} title="No PyTorch version known to vramscope writes this">
          {value}
        </Fact>
      ))}
    </dl>
  );
}

/** More pieces than these belong to one unmap only in a very cut up segment. */
const LISTED = 8;

function Related({
  related,
  onGoTo,
}: Pick<EventDetails, 'related'> & Pick<EventFactsProps, 'onGoTo'>) {
  return (
    <ul>
      {related.slice(0, LISTED).map(({ event, action }) => (
        <li key={event}>
          <button type="button" className="link" onClick={() => onGoTo(event)}>
            <span>
              {action} {formatCount(event)}
            </span>
          </button>
        </li>
      ))}
      {related.length > LISTED && <li>and {formatCount(related.length - LISTED)} more</li>}
    </ul>
  );
}
