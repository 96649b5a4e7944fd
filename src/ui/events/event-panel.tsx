import { TriangleAlert } from 'lucide-react';
import { formatCount } from '../../core/base/format.ts';
import type { EventDetails } from '../../core/lists/event-list-types.ts';
import { useDevice } from '../shared/device-context.ts';
import { StackList } from '../shared/stack-list.tsx';
import { useQuery } from '../shared/use-query.ts';
import { EventFacts } from './event-facts.tsx';

interface EventPanelProps {
  /** Where the cursor stands. */
  readonly event: number | undefined;
  readonly onGoTo: (event: number) => void;
}

/** All that is known of the cursor's event. */
export function EventPanel({ event, onGoTo }: EventPanelProps) {
  const { device } = useDevice();
  const request = event === undefined ? undefined : { event };
  const { value, isCurrent, failure } = useQuery('eventDetails', request);
  return (
    <section className="event-panel" aria-label="Event">
      {event === undefined && (
        <p className="dim">Click an event, or press Enter on it, to see all that it says.</p>
      )}
      {failure !== undefined && <p role="alert">The event could not be read: {failure}</p>}
      {event !== undefined && value === undefined && isCurrent && (
        <p>
          This trace has no event {formatCount(event)}: they are numbered 0 to{' '}
          {formatCount(device.events - 1)}.
        </p>
      )}
      {event !== undefined && value !== undefined && <Found details={value} onGoTo={onGoTo} />}
    </section>
  );
}

interface FoundProps {
  readonly details: EventDetails;
  readonly onGoTo: (event: number) => void;
}

function Found({ details, onGoTo }: FoundProps) {
  const { event, action, anomaly, stack, stackIsAllocStack, forwardFrames = [] } = details;
  return (
    <>
      <div className="event-panel-facts">
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
