import './events.css';
import { Download, LocateFixed, X } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import { snapshotStem } from '../../../base/file-names.ts';
import { formatCount } from '../../../base/format.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { cursorEvent } from '../../panels/cursor/cursor-steps.ts';
import { useShortcuts } from '../../shared/browser.ts';
import { Button } from '../../shared/buttons.tsx';
import { useSaving } from '../../shared/saving.tsx';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk, useQuery } from '../../shared/use-query.ts';
import {
  ActionChips,
  ALL_EVENTS,
  EventFilterBar,
  type EventSettings,
  eventChoice,
} from './event-filter.tsx';
import { EventPanel } from './event-panel.tsx';
import { EventTable } from './event-table.tsx';
import {
  type EventListing,
  type EventListState,
  useCursorRow,
  useEventList,
} from './use-event-list.ts';

export function View() {
  const { device } = useDevice();
  const view = useView((state) => state);
  const { cursor, selection } = view;
  const [settings, setSettings] = useState(ALL_EVENTS);
  const list = useEventList(eventChoice(settings, view, useSelectedIndex()));
  const facets = useQuery('eventFacets', {}).value;
  const table = useRef<HTMLTableElement>(null);
  const listing = list.value;
  const { goTo, shown, isMissing } = useCursorRow(listing);
  const clear = () => setSettings(ALL_EVENTS);
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
        <EventCount {...list} />
        {isMissing && cursor !== undefined && (
          <span className="event-note" role="status">
            Event {formatCount(cursor)} is not in this list.
          </span>
        )}
        <span className="spacer" />
        <GoToEvent
          onGoTo={(event) => {
            goTo(event);
            table.current?.focus({ preventScroll: true });
          }}
          onGoToCursor={() => goTo(cursorEvent(device, cursor))}
        />
        {listing !== undefined && <ExportButton listing={listing} />}
      </div>
      <Group orientation="vertical" className="fill">
        <Panel id="event-table" minSize="120px">
          {listing !== undefined && (
            <EventTable
              ref={table}
              facets={facets}
              source={listing.source}
              shown={shown}
              onGoTo={goTo}
              empty={<NoEvents onClear={settings === ALL_EVENTS ? undefined : clear} />}
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

function EventCount({ value: listing, isCurrent, failure }: EventListState) {
  const { events } = useDevice().device;
  if (failure !== undefined)
    return <span role="alert">The events could not be listed: {failure}</span>;
  if (listing === undefined) return <span className="dim">Listing the events…</span>;
  const { length, problem } = listing;
  return (
    <span role="status" aria-busy={!isCurrent}>
      {length === events ? '' : `${formatCount(length)} of `}
      {formatCount(events)} events
      {problem !== undefined && (
        <span className="event-note"> The search is not applied: {problem.message}</span>
      )}
    </span>
  );
}

function NoEvents({ onClear }: { readonly onClear: (() => void) | undefined }) {
  const { view } = useStores();
  const search = useView((state) => state.search);
  return (
    <>
      <p>No event matches these filters{search === '' ? '' : ' and the search'}.</p>
      <p className="button-row event-clear">
        {onClear !== undefined && <Button onClick={onClear}>Clear the filter</Button>}
        {search !== '' && (
          <Button onClick={() => view.commit({ search: '' })}>Clear the search</Button>
        )}
      </p>
    </>
  );
}

interface GoToEventProps {
  readonly onGoTo: (event: number) => void;
  readonly onGoToCursor: () => void;
}

function GoToEvent({ onGoTo, onGoToCursor }: GoToEventProps) {
  const { device } = useDevice();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const event = eventNumber(text, device.events);
  const isBad = text.trim() !== '' && event === undefined;
  useShortcuts({ g: () => input.current?.focus(), c: onGoToCursor });
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
      <Button icon={LocateFixed} title="Scroll to the row of the cursor (C)" onClick={onGoToCursor}>
        <span className="words">Cursor</span>
      </Button>
    </form>
  );
}

/** '1,234' is event 1234; undefined if the trace has no such event. */
export function eventNumber(text: string, events: number): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[,_ ](?=\d{3})/g, '');
  if (!/^\d{1,10}$/.test(digits)) return undefined;
  return Number(digits) < events ? Number(digits) : undefined;
}

/** Saves the listed events as CSV; long lists show progress and can be cancelled. */
function ExportButton({ listing: { choice, length } }: { readonly listing: EventListing }) {
  const { info } = useDevice();
  const ask = useAsk();
  const { state, save, cancel } = useSaving();
  const name = `${snapshotStem(info.file.name)}.events.csv`;
  const start = () =>
    save(name, 'text/csv', async (signal, onProgress) => [
      await ask('eventsCsv', { choice }, { signal, onProgress }),
    ]);
  const isRunning = state.kind === 'working';
  return (
    <span className="inline-row event-export">
      {isRunning && <progress value={state.done} max={length} aria-label="Rows saved" />}
      {state.kind === 'failed' && <span role="alert">Not saved: {state.reason}</span>}
      {isRunning ? (
        <Button
          icon={X}
          title={`${formatCount(state.done)} of ${formatCount(length)} rows`}
          onClick={cancel}
        >
          Cancel
        </Button>
      ) : (
        <Button
          icon={Download}
          disabled={length === 0}
          title={`Save ${formatCount(length)} events as CSV`}
          onClick={() => void start()}
        >
          <span className="words">CSV</span>
        </Button>
      )}
    </span>
  );
}
