import { TriangleAlert } from 'lucide-react';
import { formatCount, formatDurationUs, formatExactBytes } from '../../../base/format.ts';
import type { EventDetails } from '../../../device/lists/event-reader.ts';
import { CopyButton } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';
import { Bytes, Fact } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { StackList } from '../../shared/stack-list.tsx';
import { useQuery } from '../../shared/use-query.ts';

interface EventPanelProps {
  readonly event: number;
  readonly onGoTo: (event: number) => void;
}

export function EventPanel({ event, onGoTo }: EventPanelProps) {
  const { device } = useDevice();
  const { value, isCurrent, failure } = useQuery('eventDetails', { event });
  return (
    <section className="event-panel" aria-label="Event">
      {failure !== undefined && <p role="alert">The event could not be read: {failure}</p>}
      {value === undefined && isCurrent && (
        <p>
          This trace has no event {formatCount(event)}: they are numbered 0 to{' '}
          {formatCount(device.events - 1)}.
        </p>
      )}
      {value !== undefined && <Found details={value} onGoTo={onGoTo} />}
    </section>
  );
}

interface DetailsProps {
  readonly details: EventDetails;
  readonly onGoTo: (event: number) => void;
}

function Found({ details, onGoTo }: DetailsProps) {
  const { event, action, anomaly, stack, stackIsAllocStack, forwardFrames = [] } = details;
  return (
    <>
      <div>
        <h2>
          <span className="event-action" data-action={action}>
            {action}
          </span>{' '}
          <span className="dim">event {formatCount(event)}</span>
        </h2>
        {anomaly !== undefined && (
          <p className="event-anomaly">
            <TriangleAlert size={13} aria-hidden />
            It contradicts the events before it: {anomaly}.
          </p>
        )}
        <EventFacts details={details} onGoTo={onGoTo} />
      </div>
      <div className="event-panel-stack">
        <h3>{stackIsAllocStack ? 'Stack of the alloc' : 'Stack'}</h3>
        {stackIsAllocStack && (
          <p className="dim">
            With context=&quot;alloc&quot; PyTorch repeats it here: where this was freed is not
            recorded.
          </p>
        )}
        <StackList key={event} stack={stack} />
        {forwardFrames.length > 0 && (
          <>
            <h3>Forward pass</h3>
            <ol className="forward-frames">
              {forwardFrames.map((line) => (
                <li key={line} className="mono">
                  {line}
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </>
  );
}

/** Only an unmap in a very fragmented segment has more pieces. */
const LISTED = 8;

function EventFacts({ details, onGoTo }: DetailsProps) {
  const { address, sizeBytes, blockBytes, deviceFreeBytes, related } = details;
  const isOom = details.action === 'oom';
  return (
    <dl className="details-facts">
      {!Number.isNaN(details.timeUs) && <Fact term="Time">{formatDurationUs(details.timeUs)}</Fact>}
      <Fact term={isOom ? 'Requested' : 'Size'}>{formatExactBytes(sizeBytes)}</Fact>
      {isOom && <Fact term="Free on device">{formatExactBytes(deviceFreeBytes)}</Fact>}
      {!Number.isNaN(blockBytes) && <Fact term="Block">{formatExactBytes(blockBytes)}</Fact>}
      {address !== '' && (
        <Fact term="Address">
          <CopyButton text={address} label="address" className="mono quiet">
            {address}
          </CopyButton>
        </Fact>
      )}
      {related.length > 0 && (
        <Fact term="Paired with">
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
        </Fact>
      )}
      <Fact term="Stream">{details.stream}</Fact>
      {details.pool !== undefined && (
        <Fact term="Pool">{[details.pool, details.privatePool].filter(Boolean).join(' ')}</Fact>
      )}
      {COUNTERS.map(({ name, label, about }) => (
        <Fact key={name} term={label} title={`${about}, after the event`}>
          <Bytes bytes={details.counters[name]} />
        </Fact>
      ))}
      {details.category !== undefined && <Fact term="Category">{details.category}</Fact>}
      {details.compileContext !== undefined && (
        <Fact term="Compile context">{details.compileContext}</Fact>
      )}
      {details.userMetadata !== undefined && <Fact term="Metadata">{details.userMetadata}</Fact>}
      {details.unknownKeys.map(({ key, value }) => (
        <Fact key={key} term={key} title="A key that vramscope does not know">
          {value}
        </Fact>
      ))}
    </dl>
  );
}
