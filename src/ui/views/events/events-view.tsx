import './events.css';
import { LocateFixed } from 'lucide-react';
import { type FormEvent, useCallback, useRef, useState } from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import { formatCount } from '../../../base/format.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { cursorEvent } from '../../panels/cursor/cursor-steps.ts';
import { useShortcut } from '../../shared/browser.ts';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import type { TableHandle } from '../../table/table-row.tsx';
import {
  ActionChips,
  ALL_EVENTS,
  EventFilterBar,
  type EventSettings,
  eventChoice,
} from './event-filter.tsx';
import { EventPanel } from './event-panel.tsx';
import { EventTable } from './event-table.tsx';
import { ExportButton } from './export-events.tsx';
import { type EventListState, useEventList, useFollowCursor } from './use-event-list.ts';

/** Every event of the trace, one a row. */
export function EventsView() {
  const { device } = useDevice();
  const selected = useSelectedIndex();
  const [settings, setSettings] = useState(ALL_EVENTS);
  const choice = eventChoice(
    settings,
    useView((state) => state),
    selected,
  );
  const list = useEventList(choice);
  const facets = useQuery('eventFacets', {}).value;
  const cursor = useView((state) => state.cursor);
  const selection = useView((state) => state.selection);
  const table = useRef<TableHandle>(null);
  const follow = useFollowCursor(list, table);
  const { goTo, isMissing } = follow;
  const { listing } = list;
  const change = (part: Partial<EventSettings>) =>
    setSettings((before) => ({ ...before, ...part }));
  return (
    <section className="view" aria-label="Events">
      <ActionChips
        chosen={settings.actions}
        actions={listing?.actions ?? []}
        onChange={(actions) => change({ actions })}
      />
      <div className="row bar event-bar">
        <EventFilterBar
          settings={settings}
          onChange={change}
          facets={facets}
          selection={selection}
        />
        <EventCount list={list} events={device.events} />
        {isMissing && cursor !== undefined && (
          <span className="event-note" role="status">
            Event {formatCount(cursor)} is not in this list.
          </span>
        )}
        <span className="spacer" />
        <GoToEvent
          onGoTo={(event) => {
            goTo(event);
            table.current?.focus();
          }}
          onGoToCursor={() => goTo(cursorEvent(device, cursor))}
        />
        {listing !== undefined && <ExportButton listing={listing} />}
      </div>
      <Group orientation="vertical" className="fill">
        <Panel id="event-table" minSize="120px">
          {listing !== undefined && (
            <EventTable
              facets={facets}
              listing={listing}
              follow={follow}
              handle={table}
              empty={<NoEvents settings={settings} onClear={() => setSettings(ALL_EVENTS)} />}
            />
          )}
        </Panel>
        {cursor !== undefined && (
          <>
            <Separator
              className="split-handle split-handle-flat"
              aria-label="Height of the event"
            />
            <Panel id="event-panel" defaultSize="38%" minSize="60px">
              <EventPanel event={cursor} onGoTo={goTo} />
            </Panel>
          </>
        )}
      </Group>
    </section>
  );
}

interface EventCountProps {
  readonly list: EventListState;
  readonly events: number;
}

function EventCount({ list: { listing, isCurrent, failure }, events }: EventCountProps) {
  if (failure !== undefined) {
    return <span role="alert">The events could not be listed: {failure}</span>;
  }
  if (listing === undefined) return <span className="dim">Listing the events…</span>;
  return (
    <span role="status" aria-busy={!isCurrent}>
      {listing.length === events
        ? `${formatCount(events)} events`
        : `${formatCount(listing.length)} of ${formatCount(events)} events`}
      {listing.problem !== undefined && (
        <span className="event-note"> The search is not applied: {listing.problem.message}</span>
      )}
    </span>
  );
}

interface NoEventsProps {
  readonly settings: EventSettings;
  readonly onClear: () => void;
}

function NoEvents({ settings, onClear }: NoEventsProps) {
  const { view } = useStores();
  const search = useView((state) => state.search);
  return (
    <>
      <p>No event matches these filters{search === '' ? '' : ' and the search'}.</p>
      <p className="button-row event-clear">
        {settings !== ALL_EVENTS && (
          <button type="button" className="button" onClick={onClear}>
            Clear the filter
          </button>
        )}
        {search !== '' && (
          <button type="button" className="button" onClick={() => view.commit({ search: '' })}>
            Clear the search
          </button>
        )}
      </p>
    </>
  );
}

interface GoToEventProps {
  readonly onGoTo: (event: number) => void;
  readonly onGoToCursor: () => void;
}

/** Goes to an event by its number, and back to the cursor. */
function GoToEvent({ onGoTo, onGoToCursor }: GoToEventProps) {
  const { device } = useDevice();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const event = eventNumber(text, device.events);
  const isBad = text.trim() !== '' && event === undefined;
  useShortcut(
    'g',
    useCallback(() => input.current?.focus(), []),
  );
  useShortcut('c', onGoToCursor);
  const submit = (form: FormEvent) => {
    form.preventDefault();
    if (event === undefined) return;
    onGoTo(event);
    setText('');
  };
  return (
    <form className="inline-row event-go" onSubmit={submit}>
      <input
        ref={input}
        type="text"
        inputMode="numeric"
        className="field"
        aria-label="Go to event"
        aria-invalid={isBad}
        placeholder="Go to event"
        title={
          isBad
            ? `Events are numbered 0 to ${formatCount(device.events - 1)}`
            : 'Type an event number and press Enter (G)'
        }
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button
        type="button"
        className="button"
        title="Scroll to the row of the cursor (C)"
        onClick={onGoToCursor}
      >
        <LocateFixed size={13} aria-hidden />
        <span className="words">Cursor</span>
      </button>
    </form>
  );
}

/** '1,234' is event 1234; undefined if the trace has no such event. */
export function eventNumber(text: string, events: number): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[,_ ](?=\d{3})/g, '');
  if (!/^\d{1,10}$/.test(digits)) return undefined;
  return Number(digits) < events ? Number(digits) : undefined;
}
