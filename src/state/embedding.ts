/**
 * The page inside a frame of another page, such as a dashboard. `?embedder=https://dash.example.org` names the one
 * origin that may exchange messages with it. docs/embedding.md explains it to authors of such pages.
 *
 * Any page could frame this one and name itself, and a person might drop a file into it unawares. So the embedder
 * learns only about snapshots that it sent itself.
 */
import type { AllocationDetails } from '../device/model/allocation-details.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { SessionClient } from '../worker/client.ts';
import type { SnapshotLoader } from './snapshot-loader.ts';
import type { Stores } from './stores.ts';
import { parseUrl, URL_VERSION } from './url-codec.ts';
import { openingView, viewFitting } from './view-fitting.ts';

/** Increase this when a message changes its meaning, not for a new message. */
const MESSAGE_VERSION = 1;

interface EmbeddingOptions {
  /** The value of `?embedder=` in the URL. */
  readonly embedder: string;
  readonly version: string;
  readonly window: Window;
  readonly loader: Pick<SnapshotLoader, 'open'>;
  readonly session: Pick<SessionClient, 'query'>;
  readonly stores: Pick<Stores, 'session' | 'view'>;
}

/**
 * Listens for the lifetime of the page.
 * @returns a sentence about what is wrong with `embedder`; undefined if it is fine
 */
export function startEmbedding(options: EmbeddingOptions): string | undefined {
  const { window, loader, stores } = options;
  const origin = originOf(options.embedder);
  if (origin === undefined)
    return `The link's embedder "${options.embedder.slice(0, 60)}" is not an origin such as https://dash.example.org and was ignored.`;
  /** The latest snapshot from the embedder, once it is open. */
  let given: SessionInfo | undefined;
  let toldSelection: string | undefined;

  const tell = <T extends { readonly type: string }>(message: T) =>
    window.parent.postMessage({ vramscope: MESSAGE_VERSION, ...message }, origin);
  const refuse = (message: string) => tell({ type: 'refused', message });
  const sayReady = () => tell({ type: 'ready', version: options.version });

  /** The open snapshot, if it came from the embedder. */
  function openOfEmbedder(): SessionInfo | undefined {
    const state = stores.session.getState();
    return state.phase === 'ready' && state.info === given ? given : undefined;
  }

  async function open(blob: Blob, name: string): Promise<void> {
    given = undefined;
    toldSelection = undefined;
    await loader.open({ kind: 'blob', blob, name });
    const state = stores.session.getState();
    if (state.phase === 'failed') {
      const { message, advice } = state.failure;
      tell({ type: 'failed', name, message, advice });
    }
    // If another file was opened meanwhile, it is not the embedder's.
    if (state.phase !== 'ready' || state.info.file.name !== name) return;
    given = state.info;
    tell(openedMessage(given));
    await tellSelection();
  }

  /** @param hash the part of a link after #, such as "view=allocations&search=size>64MiB" */
  function show(hash: string): void {
    const info = openOfEmbedder();
    if (info === undefined) {
      refuse('No snapshot of yours is open.');
      return;
    }
    const wanted = hash.replace(/^#/, '');
    const versioned = /(^|&)v=/.test(wanted) ? wanted : `v=${URL_VERSION}&${wanted}`;
    const { view, problems } = parseUrl(versioned, openingView(info));
    stores.view.restore(viewFitting(view, info));
    const [problem] = problems;
    if (problem !== undefined) refuse(problem);
  }

  async function tellSelection(): Promise<void> {
    const info = openOfEmbedder();
    const { selection, deviceIndex } = stores.view.getState().view;
    const key = `${deviceIndex} ${selection}`;
    if (info === undefined || key === toldSelection) return;
    const isFirst = toldSelection === undefined;
    toldSelection = key;
    const details = selection === undefined ? undefined : await detailsOf(selection, deviceIndex);
    if (toldSelection !== key || openOfEmbedder() !== info) return;
    const device = info.devices[deviceIndex]?.device ?? -1;
    if (details !== undefined) tell(selectedMessage(details, device));
    else if (!isFirst) tell({ type: 'selected', allocation: null });
  }

  async function detailsOf(label: string, deviceIndex: number) {
    const index = await options.session.query('findAllocation', { deviceIndex, label });
    return index === undefined
      ? undefined
      : options.session.query('allocation', { deviceIndex, index });
  }

  window.addEventListener('message', ({ origin: sender, source, data }) => {
    if (sender !== origin || source !== window.parent) return;
    if (data?.vramscope !== MESSAGE_VERSION) return;
    // Check each field: the message comes from somebody else's code.
    const { type, blob, name, hash } = data;
    // In case `ready` was sent before anyone listened.
    if (type === 'hello') sayReady();
    else if (type === 'view' && typeof hash === 'string') show(hash);
    else if (type === 'open' && blob instanceof Blob)
      void open(blob, typeof name === 'string' && name !== '' ? name : 'snapshot.pickle');
    else refuse(`Not a message of version ${MESSAGE_VERSION}.`);
  });
  stores.view.subscribe(() => void tellSelection());
  sayReady();
  return undefined;
}

/** The origin, if the text is exactly one; undefined for anything else, "*" and "null" included. */
function originOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, protocol } = new URL(text);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && (text === origin || text === `${origin}/`) ? origin : undefined;
}

const openedMessage = ({ file, devices }: SessionInfo) => ({
  type: 'opened' as const,
  name: file.name,
  devices: devices.map(({ device, events, peaks, ooms }) => ({
    device,
    events,
    peakAllocatedBytes: peaks.allocatedBytes.bytes,
    peakReservedBytes: peaks.reservedBytes.bytes,
    ooms: ooms.filter(({ wasRetried }) => !wasRetried).length,
  })),
});

/** `startEvent` is -1 for allocations from before the trace; `frame` is null if no line is known. */
function selectedMessage(details: AllocationDetails, device: number) {
  const { label, blockBytes, requestedBytes, startEvent, topUserFrame: top } = details;
  const frame = top === undefined ? null : { file: top.filename, line: top.line, name: top.name };
  const allocation = { label, device, blockBytes, requestedBytes, startEvent, frame };
  return { type: 'selected' as const, allocation };
}
