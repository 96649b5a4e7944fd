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
  const { blockBytes, requestedBytes } = details;
  return (
    <>
      <p className="details-size">
        <Bytes as="strong" bytes={blockBytes} />
        <span className="chip" data-tone={STATES[details.state].tone}>
          {STATES[details.state].text}
        </span>
      </p>
      <dl className="details-facts">
        {details.name !== undefined && <Fact term="Name">{details.name}</Fact>}
        {details.holder !== undefined && <HolderFacts holder={details.holder} />}
        <Fact term="Class" title={`Because ${details.classReason}`}>
          <FilterLink term={`class:${details.memoryClass.id}`}>
            {details.memoryClass.label}
          </FilterLink>
        </Fact>
        <Fact term="Because">{details.classReason}</Fact>
        <Fact term="Requested">
          <Bytes bytes={requestedBytes} />
        </Fact>
        <Fact term="Block">{formatExactBytes(blockBytes)}</Fact>
        <Fact term="Rounding loss">{roundingText(details)}</Fact>
        <Fact term="Lifetime">{lifetimeText(device, details)}</Fact>
        <Fact term="Allocated">
          {details.preexisting ? (
            'before recording'
          ) : (
            <EventLink event={details.startEvent} timeUs={details.startUs} />
          )}
        </Fact>
        <Fact term="Freed">
          <FreedText details={details} />
        </Fact>
        <FilterFact term="Stream" value={details.stream} filter="stream" />
        <FilterFact term="Pool" value={details.pool} filter="pool" />
        <FilterFact term="Private pool" value={details.privatePool} filter="pool">
          {' '}
          {details.poolKind}
        </FilterFact>
        {details.annotations.length > 0 && (
          <Fact term="Annotations">
            <ol>
              {details.annotations.map((name, depth) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: recursion repeats names; they never move
                <li key={depth}>
                  <FilterLink term={searchTerm('phase', name)}>{name}</FilterLink>
                </li>
              ))}
            </ol>
          </Fact>
        )}
        <FilterFact term="Category" value={details.category} filter="category" />
        <FilterFact term="Compiled region" value={details.compileContext} filter="compile" />
        {details.userMetadata !== undefined && <Fact term="Metadata">{details.userMetadata}</Fact>}
        {details.laterMetadata.length > 0 && (
          <Fact term="Annotated" title="Labels from torch.cuda.memory._annotate_tensor()">
            {details.laterMetadata.join(', ')}
          </Fact>
        )}
      </dl>
    </>
  );
}

interface FilterFactProps {
  readonly term: string;
  readonly value: string | undefined;
  /** A qualifier of the search. */
  readonly filter: string;
  readonly children?: ReactNode;
}

function FilterFact(props: FilterFactProps) {
  const { term, value, filter, children } = props;
  if (value === undefined) return undefined;
  return (
    <Fact term={term}>
      <FilterLink term={searchTerm(filter, value)}>{value}</FilterLink>
      {children}
    </Fact>
  );
}

function HolderFacts({ holder: { owner } }: { readonly holder: Holder }) {
  const { file, line, via, through } = owner;
  return (
    <>
      <Fact term="Held by">
        <FilterLink term={searchTerm('holder', owner.name)}>{ownerText(owner)}</FilterLink>
      </Fact>
      {via !== undefined && (
        <Fact term="Kept by">
          {via === 'cycle' ? `a reference cycle through ${through}` : `the ${via}`}
        </Fact>
      )}
      {file !== undefined && (
        <Fact term="Set in" title={file}>
          {shortPath(file)}
          {line !== undefined && `:${line}`}
        </Fact>
      )}
    </>
  );
}

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
  if (preexisting && state !== 'freed') return 'longer than the whole trace';
  const isOver = state === 'freed';
  const events = (isOver ? endEvent : device.events) - Math.max(0, startEvent);
  const timeUs = (isOver ? endUs : device.durationUs) - (preexisting ? 0 : startUs);
  const eventText = plural(events, 'event');
  const text =
    !device.hasTime || Number.isNaN(timeUs)
      ? eventText
      : `${eventText}, ${formatDurationUs(timeUs)}`;
  return preexisting || !isOver ? `at least ${text}` : text;
}

function FreedText({ details }: { readonly details: AllocationDetails }) {
  const { state, freeRequestedEvent, endEvent, endUs } = details;
  if (state === 'live') return 'not in this trace';
  const requested = (
    <>
      requested at <EventLink event={freeRequestedEvent} />
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
