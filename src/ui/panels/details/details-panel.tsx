import './details.css';
import { MousePointerClick, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { shortPath } from '../../../base/file-names.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatExactBytes,
  formatPercent,
  lowerBound,
  plural,
} from '../../../base/format.ts';
import type { ClassifiedDetails } from '../../../device/classes/types.ts';
import type { AllocationDetails } from '../../../device/model/allocation-details.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { type Holder, ownerText } from '../../../device/model/holders.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import { useStores } from '../../../state/stores.ts';
import { Button, CopyButton, IconButton } from '../../shared/buttons.tsx';
import { Bytes, Fact } from '../../shared/facts.tsx';
import { FilterLink, useSelection } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { FreeStack, StackList } from '../../shared/stack-list.tsx';

export function DetailsPanel() {
  const selection = useSelection();
  return (
    <aside className="details" data-testid="details" aria-label="Details">
      {selection.kind === 'found' ? (
        <Found details={selection.details} />
      ) : (
        <div className="column dim details-empty">
          <MousePointerClick size={20} aria-hidden />
          {selection.kind === 'none' ? (
            <p>Click a block in the timeline to see what it is and which line of code made it.</p>
          ) : (
            <p>
              <code>{selection.label}</code> is not an allocation of this snapshot on this device.
            </p>
          )}
        </div>
      )}
    </aside>
  );
}

function Found({ details }: { readonly details: ClassifiedDetails }) {
  const { view } = useStores();
  return (
    <>
      <div className="spread">
        <CopyButton text={details.label} label="label" className="mono quiet">
          {details.label}
        </CopyButton>
        <IconButton
          icon={X}
          label="Unpin"
          title="Unpin (Esc)"
          onClick={() => view.commit({ selection: undefined })}
        />
      </div>
      <AllocationFacts details={details} />
      <section aria-label="Allocated by">
        <h2 className="details-heading">Allocated by</h2>
        <StackList key={details.label} stack={details.allocStack} testId="stack" />
      </section>
      {details.forwardFrames !== undefined && details.forwardFrames.length > 0 && (
        <section aria-label="Forward pass">
          <h2 className="details-heading">Forward pass</h2>
          <ol>
            {details.forwardFrames.map((line) => (
              <li key={line} className="mono">
                {line}
              </li>
            ))}
          </ol>
        </section>
      )}
      <FreeStack key={`free ${details.label}`} details={details} />
      <SiteSummary details={details} />
    </>
  );
}

function AllocationFacts({ details }: { readonly details: ClassifiedDetails }) {
  const { device } = useDevice();
  const { blockBytes, memoryClass, classReason, annotations, laterMetadata } = details;
  const owner = details.holder?.owner;
  const state = STATES[details.state];
  const facts: Readonly<Record<string, ReactNode>> = {
    Name: details.name,
    'Held by': owner && filtered('holder', owner.name, ownerText(owner)),
    'Kept by': owner?.via && keptText(owner),
    'Set in': owner?.file && (
      <span title={owner.file}>
        {shortPath(owner.file)}
        {owner.line !== undefined && `:${owner.line}`}
      </span>
    ),
    Class: (
      <FilterLink term={`class:${memoryClass.id}`} about={`Because ${classReason}`}>
        {memoryClass.label}
      </FilterLink>
    ),
    Because: classReason,
    Requested: <Bytes bytes={details.requestedBytes} />,
    Block: formatExactBytes(blockBytes),
    'Rounding loss': roundingText(details),
    Lifetime: lifetimeText(device, details),
    Allocated: <EventLink event={details.startEvent} timeUs={details.startUs} />,
    Freed: <FreedText details={details} />,
    Stream: filtered('stream', details.stream),
    Pool: filtered('pool', details.pool),
    'Private pool': details.privatePool && (
      <>
        {filtered('pool', details.privatePool)} {details.poolKind}
      </>
    ),
    Annotations: annotations.length > 0 && (
      <ol>
        {annotations.map((name, depth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: recursion repeats names; they never move
          <li key={depth}>{filtered('phase', name)}</li>
        ))}
      </ol>
    ),
    Category: filtered('category', details.category),
    'Compiled region': filtered('compile', details.compileContext),
    Metadata: details.userMetadata,
    Annotated: laterMetadata.length > 0 && (
      <span title="Labels from torch.cuda.memory._annotate_tensor()">
        {laterMetadata.join(', ')}
      </span>
    ),
  };
  return (
    <>
      <p className="details-size">
        <Bytes as="strong" bytes={blockBytes} />
        <span className="chip" data-tone={state.tone}>
          {state.text}
        </span>
      </p>
      <dl className="details-facts">
        {Object.entries(facts).map(
          ([term, content]) =>
            content !== undefined &&
            content !== false && (
              <Fact key={term} term={term}>
                {content}
              </Fact>
            ),
        )}
      </dl>
    </>
  );
}

const filtered = (qualifier: string, value: string | undefined, text = value) =>
  value === undefined ? undefined : (
    <FilterLink term={searchTerm(qualifier, value)}>{text}</FilterLink>
  );

const keptText = ({ via, through }: Holder['owner']): string =>
  via === 'cycle' ? `a reference cycle through ${through}` : `the ${via}`;

const STATES: Readonly<Record<AllocationDetails['state'], { text: string; tone?: string }>> = {
  freed: { text: 'freed' },
  pending: { text: 'pending free', tone: 'danger' },
  live: { text: 'live at the end', tone: 'accent' },
};

/** '512 bytes (3.1%)'; 'unknown' if the requested size is unknown. */
function roundingText({ blockBytes, requestedBytes }: AllocationDetails): string {
  const lost = blockBytes - requestedBytes;
  if (Number.isNaN(lost)) return 'unknown';
  if (lost === 0) return 'nothing';
  return `${formatBytes(lost)} (${formatPercent(lost / blockBytes, 1)})`;
}

/** From the allocation until its free completed, or the trace ended. */
function lifetimeText(device: DeviceInfo, details: AllocationDetails): string {
  const { startEvent, endEvent, startUs, endUs, preexisting, state } = details;
  const isOver = state === 'freed';
  const events = (isOver ? endEvent : device.events) - Math.max(0, startEvent);
  const timeUs = (isOver ? endUs : device.durationUs) - (preexisting ? 0 : startUs);
  const eventText = plural(events, 'event');
  const text =
    !device.hasTime || Number.isNaN(timeUs)
      ? eventText
      : `${eventText}, ${formatDurationUs(timeUs)}`;
  return lowerBound(text, preexisting || !isOver);
}

function FreedText({ details }: { readonly details: AllocationDetails }) {
  const { state, freeRequestedEvent, endEvent, endUs } = details;
  if (state === 'live') return 'not in this trace';
  const requested = (
    <>
      requested {freeRequestedEvent >= 0 && 'at '}
      <EventLink event={freeRequestedEvent} />
    </>
  );
  if (state === 'pending') return <>{requested}, not completed</>;
  return (
    <>
      <EventLink event={endEvent} timeUs={endUs} />
      {endEvent - freeRequestedEvent > 1 && <>, {requested}</>}
    </>
  );
}

/** Links to the event in the timeline; shows its time if given and known. */
function EventLink({ event, timeUs = Number.NaN }: { event: number; timeUs?: number }) {
  const { view } = useStores();
  if (event < 0) return 'before the first event';
  return (
    <Button
      className="link"
      title="Show in the timeline"
      onClick={() => view.commit({ cursor: event })}
    >
      <span>event {formatCount(event)}</span>
      {!Number.isNaN(timeUs) && <span>{formatDurationUs(timeUs)}</span>}
    </Button>
  );
}

function SiteSummary({ details }: { readonly details: AllocationDetails }) {
  const { allocations, totalBytes, liveAtEnd, liveAtEndBytes } = details.callSite;
  return (
    <section aria-label="Same stack">
      <h2 className="details-heading">
        {details.allocStack.kind === 'recorded' ? 'Same call site' : 'Also without a stack'}
      </h2>
      <dl className="details-facts">
        <Fact term="Allocations">
          <FilterLink term={searchTerm('site', details.label)}>
            {formatCount(allocations)}, {formatBytes(totalBytes)} in all
          </FilterLink>
        </Fact>
        <Fact term="Alive at the end">
          {liveAtEnd === 0 ? 'none' : `${formatCount(liveAtEnd)}, ${formatBytes(liveAtEndBytes)}`}
        </Fact>
      </dl>
    </section>
  );
}
