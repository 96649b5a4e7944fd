import { Download, FileText } from 'lucide-react';
import { useId, useState } from 'react';
import { snapshotStem } from '../../../base/file-names.ts';
import { type ReportHead, reportPage } from '../../../output/report/report-page.ts';
import type { EventWindow } from '../../../output/slice/window-snapshot.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { encodeView } from '../../../state/url-codec.ts';
import type { ViewState } from '../../../state/view-store.ts';
import { Button } from '../../shared/buttons.tsx';
import { SavingOutcome, useSaving } from '../../shared/saving.tsx';
import { type DeviceInView, useDevice } from '../../shared/services.ts';
import { type AskDevice, useAsk } from '../../shared/use-query.ts';
import { appShell } from './report-page.ts';

const NOTHING_CHOSEN = {
  notes: '',
  isPart: false,
  isShortPaths: false,
  isWithoutStacks: false,
  isWithoutHolders: false,
};
type ReportChoice = Readonly<typeof NOTHING_CHOSEN>;

export function ReportForm() {
  const shown = useDevice();
  const { info } = shown;
  const ask = useAsk();
  const { view } = useStores();
  const notesId = useId();
  const isZoomed = useView((state) => state.x !== 'all');
  const [choice, setChoice] = useState(NOTHING_CHOSEN);
  const { state, save } = useSaving();
  const checkbox = (name: Exclude<keyof ReportChoice, 'notes'>, text: string, isUseful = true) => (
    <label className="inline-row">
      <input
        type="checkbox"
        checked={choice[name] && isUseful}
        disabled={!isUseful}
        onChange={({ target }) => setChoice({ ...choice, [name]: target.checked })}
      />
      <span>{text}</span>
    </label>
  );
  return (
    <form
      className="column"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = { ...choice, isPart: choice.isPart && isZoomed };
        const name = `${snapshotStem(info.file.name)}.html`;
        void save(name, 'text/html', () => makePage(ask, shown, view.getState().view, wanted));
      }}
    >
      <p className="dim">
        One HTML file with {info.devices.length > 1 ? 'this device of ' : ''}
        {info.file.name} inside. It opens in any browser, offline, at this view.
      </p>
      <label htmlFor={notesId}>Notes for the reader</label>
      <textarea
        id={notesId}
        rows={3}
        value={choice.notes}
        placeholder="What you tried, what you want to know"
        onChange={({ target }) => setChoice({ ...choice, notes: target.value })}
      />
      {checkbox('isPart', `Only the events in view${isZoomed ? '' : ' (zoom in first)'}`, isZoomed)}
      {checkbox('isShortPaths', 'Shorten paths to their last two parts')}
      {checkbox('isWithoutStacks', 'Omit all call stacks')}
      {shown.device.hasHolders &&
        checkbox('isWithoutHolders', 'Omit the names of the variables that hold memory')}
      <div className="row">
        <Button type="submit" icon={Download} isPrimary disabled={state.kind === 'working'}>
          Export report
        </Button>
        <SavingOutcome state={state} working={() => 'Packing…'} />
      </div>
    </form>
  );
}

async function makePage(
  ask: AskDevice,
  { info, device }: DeviceInView,
  view: ViewState,
  { notes, isPart, isShortPaths, isWithoutStacks, isWithoutHolders }: ReportChoice,
): Promise<string> {
  const whole = { from: 0, to: device.events };
  const window = isPart ? await windowInView(ask, device.events, view) : whole;
  const { gzipped } = await ask('compact', {
    window,
    file: info.file,
    paths: isShortPaths ? 'last-two' : 'whole',
    stacks: !isWithoutStacks,
    holders: !isWithoutHolders,
  });
  return reportPage(await appShell(), {
    title: info.file.name,
    notes,
    hash: encodeView(viewOfPart(view, window, device.events)),
    madeAt: new Date().toISOString(),
    version: String(import.meta.env.VITE_VERSION),
    base64: await base64Of(gzipped),
  });
}

async function windowInView(
  ask: AskDevice,
  events: number,
  { x, axis }: ViewState,
): Promise<EventWindow> {
  if (x === 'all') return { from: 0, to: events };
  const eventAt = (timeUs: number) => ask('eventAt', { timeUs });
  const [from, to] =
    axis === 'event'
      ? [Math.floor(x.from), Math.ceil(x.to)]
      : [await eventAt(x.from), (await eventAt(x.to)) + 1];
  const first = Math.min(Math.max(0, from), Math.max(0, events - 1));
  return { from: first, to: Math.min(Math.max(to, first + 1), events) };
}

/** The browser's own encoder is faster than building a string of millions of characters. */
async function base64Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('Could not encode the data.'));
    reader.readAsDataURL(new Blob([bytes]));
  });
  return url.slice(url.indexOf(',') + 1);
}

/**
 * Adapts the view to a report, which has one device and may hold only a part of the events, counted from its start.
 * Example: in a part that starts at event 5,000, a cursor at 5,200 becomes 200.
 * @param events of the whole recording
 */
export function viewOfPart(view: ViewState, window: EventWindow, events: number): ViewState {
  if (window.from === 0 && window.to === events) return { ...view, deviceIndex: 0 };
  const moved = (event: number | undefined) =>
    event === undefined || event < window.from || event >= window.to
      ? undefined
      : event - window.from;
  return {
    ...view,
    deviceIndex: 0,
    // The part is what was in view, so show all of it.
    x: 'all',
    cursor: moved(view.cursor),
    secondCursor: moved(view.secondCursor),
    // Labels count earlier uses of an address, and findings count bytes: both differ in a part.
    selection: undefined,
    finding: undefined,
  };
}

/** Above a report's views: its title, date and author's notes. Hidden in a notebook cell. */
export function ReportBar({ title, notes, madeAt, version }: ReportHead) {
  if (madeAt === '') return null;
  return (
    <aside className="row bar" aria-label="Report">
      <p className="inline-row">
        <FileText size={14} aria-hidden />
        Report of <strong>{title}</strong>
        <span className="dim">
          made {madeAt.slice(0, 16).replace('T', ' ')} UTC by vramscope {version}
        </span>
      </p>
      {notes !== '' && <p className="report-notes">{notes}</p>}
    </aside>
  );
}
