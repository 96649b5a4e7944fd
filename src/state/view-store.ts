/**
 * What the user looks at: small, serialisable, all of it in the URL. Hover and drag change every
 * frame and are not here.
 *
 * Changes are of two kinds. A pan or a wheel step is transient: the URL follows it, Back does not
 * stop at it. A commit (a range zoomed to, an allocation selected) gets an entry in the history.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { FlameDataset } from '../core/flame-graph/flame-set.ts';
import type { FlameFrames, FlameGrouping, FlameWeight } from '../core/flame-graph/types.ts';
import type { ColorBy, TimeAxis } from '../core/raster/types.ts';
import type { CounterName } from '../core/replay/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';

/** From–to on one axis, from < to: events or microseconds (see `axis`), or bytes. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The views on a device, in the order of their tabs. */
export const VIEW_NAMES = [
  'timeline',
  'addresses',
  'segments',
  'state',
  'flame',
  'events',
  'allocations',
  'summary',
  'whatif',
] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

/** Which allocations the flame graph adds up, by what, and how it shows them. */
export interface FlameView {
  /** Live at the cursor, at the peak, at the end; allocated in the window; mark against cursor. */
  readonly dataset: FlameDataset;
  readonly weight: FlameWeight;
  readonly groupBy: FlameGrouping;
  /** Which frames get boxes. */
  readonly frames: FlameFrames;
  /** Callees at the root, callers above them. */
  readonly inverted: boolean;
  /** The frame zoomed into, written by the flame graph; undefined for the whole. */
  readonly root: string | undefined;
}

/** Order of the allocations table; a column's key. */
export interface Sort {
  readonly key: string;
  readonly descending: boolean;
}

export interface ViewState {
  readonly view: ViewName;
  /** Position in SessionInfo.devices. */
  readonly deviceIndex: number;
  readonly axis: TimeAxis;
  /** 'all' is the whole trace, whatever its length. */
  readonly x: Range | 'all';
  /** 'fit' reaches to the highest of what is drawn, over the whole trace: panning does not rescale. */
  readonly y: Range | 'fit';
  /** Label of the pinned allocation, as PyTorch's viewer writes it: b7f064c000000_0. */
  readonly selection: string | undefined;
  readonly colorBy: ColorBy;
  readonly lines: readonly CounterName[];
  /** Event at which the crosshair is pinned. */
  readonly cursor: EventIndex | undefined;
  /** The second cursor: what lies between it and the first is measured. */
  readonly mark: EventIndex | undefined;
  /** Text of the search box (core/search); '' matches all. */
  readonly search: string;
  /** Show the matches alone; else the others are dimmed. */
  readonly onlyMatches: boolean;
  /** Fingerprint of the finding that is shown. */
  readonly finding: string | undefined;
  /** Window of the address map, in bytes of its packed addresses. */
  readonly addresses: Range | 'fit';
  readonly flame: FlameView;
  readonly sort: Sort | undefined;
  /** Allocator setting that is compared with the recorded run, as PYTORCH_ALLOC_CONF says it. */
  readonly setting: string | undefined;
  /** Bytes that PyTorch may reserve in what-if runs; undefined: what the recorded run had. */
  readonly limit: number | 'none' | undefined;
}

export const DEFAULT_FLAME: FlameView = {
  dataset: 'peak',
  weight: 'bytes',
  groupBy: 'line',
  frames: 'known',
  inverted: false,
  root: undefined,
};

export const DEFAULT_VIEW: ViewState = {
  view: 'timeline',
  deviceIndex: 0,
  axis: 'event',
  x: 'all',
  y: 'fit',
  selection: undefined,
  colorBy: 'stack',
  lines: ['allocatedBytes', 'activeBytes', 'reservedBytes'],
  cursor: undefined,
  mark: undefined,
  search: '',
  onlyMatches: false,
  finding: undefined,
  addresses: 'fit',
  flame: DEFAULT_FLAME,
  sort: undefined,
  setting: undefined,
  limit: undefined,
};

export interface ViewStoreState {
  readonly view: ViewState;
  /** Grows with each commit; url-sync makes a history entry of it. */
  readonly commits: number;
}

export interface ViewStore extends StoreApi<ViewStoreState> {
  /** A step of a continuous movement: pan, wheel, drag. */
  move(change: Partial<ViewState>): void;
  /** A deliberate change that Back should undo. */
  commit(change: Partial<ViewState>): void;
  /** The view of a URL or of a new file; no history entry. */
  restore(view: ViewState): void;
}

export function createViewStore(initial: ViewState = DEFAULT_VIEW): ViewStore {
  const store = createStore<ViewStoreState>(() => ({ view: initial, commits: 0 }));
  const move = (change: Partial<ViewState>) =>
    store.setState(({ view }) => ({ view: { ...view, ...change } }));
  const commit = (change: Partial<ViewState>) =>
    store.setState(({ view, commits }) => ({
      view: { ...view, ...change },
      commits: commits + 1,
    }));
  const restore = (view: ViewState) => store.setState({ view });
  return Object.assign(store, { move, commit, restore });
}

/**
 * The change that goes to another device: its windows, selection and cursor mean nothing there.
 * Pass it to `commit`.
 */
export function onDevice(deviceIndex: number): Partial<ViewState> {
  const { x, y, selection, cursor, mark, search, finding, addresses, flame } = DEFAULT_VIEW;
  return { deviceIndex, x, y, selection, cursor, mark, search, finding, addresses, flame };
}
