import { Download, FileText } from 'lucide-react';
import { useId, useState } from 'react';
import { useStore } from 'zustand';
import { snapshotStem } from '../../../base/file-names.ts';
import type { SourceTexts } from '../../../format/snapshot/tables.ts';
import { mayHoldSource } from '../../../format/snapshot-file/prune.ts';
import { type ReportHead, reportPage } from '../../../output/report/report-page.ts';
import { sourceExcerpts } from '../../../output/report/source-excerpts.ts';
import type { EventWindow } from '../../../output/slice/window-snapshot.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { encodeView } from '../../../state/url-codec.ts';
import type { ViewState } from '../../../state/view-store.ts';
import { Button } from '../../shared/buttons.tsx';
import { SavingOutcome, useSaving } from '../../shared/saving.tsx';
import { type DeviceInView, useDevice, useFindings } from '../../shared/services.ts';
import { sourceCode } from '../../shared/source-code.tsx';
import { type AskDevice, useAsk } from '../../shared/use-query.ts';
import { appShell } from './report-page.ts';

const NOTHING_CHOSEN = {
  notes: '',
  isPart: false,
  isShortPaths: false,
  isWithoutStacks: false,
  isWithoutHolders: false,
  hasCode: false,
};
type ReportChoice = Readonly<typeof NOTHING_CHOSEN>;

/** What of the snapshot the report is to have. */
const partsOf = ({ isShortPaths, isWithoutStacks, isWithoutHolders }: ReportChoice) =>
  ({
    paths: isShortPaths ? 'last-two' : 'whole',
    stacks: !isWithoutStacks,
    holders: !isWithoutHolders,
  }) as const;

export function ReportForm() {
  const shown = useDevice();
  const { info } = shown;
  const ask = useAsk();
  const { view, source } = useStores();
  const folder = useStore(source, (state) => state.folder);
  const found = useFindings();
  const notesId = useId();
  const isZoomed = useView((state) => state.x !== 'all');
  const [choice, setChoice] = useState({
    ...NOTHING_CHOSEN,
    // Whoever recorded the code meant it to be seen; a folder may hold anything.
    hasCode: shown.device.hasSource,
  });
  const { state, save } = useSaving();
  const whyNoCode = !mayHoldSource(partsOf(choice))
    ? ' (not if anything is shortened or omitted)'
    : found.phase === 'done'
      ? ''
      : ' (once the checks are done)';
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
        const wanted = {
          ...choice,
          isPart: choice.isPart && isZoomed,
          hasCode: choice.hasCode && whyNoCode === '',
        };
        // Recorded code is on by default, so that of a folder does not come with it.
        const allowed = shown.device.hasSource ? undefined : folder;
        const codeOf = async (filename: string) => (await sourceCode(ask, allowed, filename)).text;
        const name = `${snapshotStem(info.file.name)}.html`;
        void save(name, 'text/html', () =>
          makePage(
            ask,
            shown,
            view.getState().view,
            wanted,
            wanted.hasCode
              ? () => sourceExcerpts({ ...found, ...found.judgement }, codeOf)
              : undefined,
          ),
        );
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
      {(shown.device.hasSource || folder !== undefined) &&
        checkbox(
          'hasCode',
          `Include your code around the lines that the verdict and the findings name${whyNoCode}`,
          whyNoCode === '',
        )}
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
  choice: ReportChoice,
  readSource: (() => Promise<SourceTexts | undefined>) | undefined,
): Promise<string> {
  const { notes, isPart } = choice;
  const whole = { from: 0, to: device.events };
  const window = isPart ? await windowInView(ask, device.events, view) : whole;
  const { gzipped } = await ask('compact', {
    window,
    file: info.file,
    ...partsOf(choice),
    source: await readSource?.(),
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
