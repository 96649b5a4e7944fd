import { useState } from 'react';
import { errorText } from '../../../base/errors.ts';
import { snapshotStem } from '../../../base/file-names.ts';
import { reportPage } from '../../../output/report/report-page.ts';
import type { EventWindow } from '../../../output/slice/window-snapshot.ts';
import { useStores } from '../../../state/stores.ts';
import { encodeView } from '../../../state/url-codec.ts';
import type { ViewState } from '../../../state/view-store.ts';
import { type DeviceInView, useDevice } from '../../shared/device-context.ts';
import { downloadText } from '../../shared/download.ts';
import { useServices } from '../../shared/services.ts';
import { type AskDevice, useAsk } from '../../shared/use-query.ts';
import { appShell } from './report-document.ts';
import { viewOfPart } from './view-of-part.ts';

interface ReportChoice {
  readonly notes: string;
  /** Only the events in view. */
  readonly isPart: boolean;
  readonly isShortPaths: boolean;
  readonly isWithoutStacks: boolean;
  readonly isWithoutHolders: boolean;
}

export type ExportState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'working' }
  | { readonly kind: 'done'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

interface ReportExport {
  readonly state: ExportState;
  readonly start: (choice: ReportChoice) => Promise<void>;
}

/** Makes the report of a device and saves it. */
export function useExportReport(): ReportExport {
  const shown = useDevice();
  const { idle } = useServices();
  const ask = useAsk();
  const { view } = useStores();
  const [state, setState] = useState<ExportState>({ kind: 'ready' });

  async function start(choice: ReportChoice): Promise<void> {
    setState({ kind: 'working' });
    try {
      const { view: now } = view.getState();
      const page = await idle.during(() => makePage(ask, shown, now, choice));
      const name = `${snapshotStem(shown.info.file.name)}.html`;
      downloadText(name, 'text/html', page);
      setState({ kind: 'done', name, bytes: new Blob([page]).size });
    } catch (error) {
      setState({ kind: 'failed', reason: errorText(error) });
    }
  }
  return { state, start };
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

/** The events that the timeline shows. */
async function windowInView(
  ask: AskDevice,
  events: number,
  { x, axis }: ViewState,
): Promise<EventWindow> {
  if (x === 'all') return { from: 0, to: events };
  const eventAt = (timeUs: number) => ask('eventAt', { timeUs });
  const from = axis === 'event' ? Math.floor(x.from) : await eventAt(x.from);
  const last = axis === 'event' ? Math.ceil(x.to) : (await eventAt(x.to)) + 1;
  const first = Math.min(Math.max(0, from), Math.max(0, events - 1));
  return { from: first, to: Math.min(Math.max(last, first + 1), events) };
}

/** The browser's own encoder: no string of millions of letters is put together here. */
async function base64Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('Could not encode the data.'));
    reader.readAsDataURL(new Blob([bytes]));
  });
  return url.slice(url.indexOf(',') + 1);
}
