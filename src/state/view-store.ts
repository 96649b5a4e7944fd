/**
 * What the user looks at: small, serialisable, all of it in the URL. Hover and drag change every
 * frame and are not here.
 *
 * Changes are of two kinds. A pan or a wheel step is transient: the URL follows it, Back does not
 * stop at it. A commit (a range zoomed to, an allocation selected) gets an entry in the history.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { CounterName } from '../core/replay/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';
import type { ColorBy, TimeAxis } from '../core/timeline/types.ts';

/** From–to on one axis, from < to: events or microseconds (see `axis`), or bytes. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface ViewState {
  /** Position in SessionInfo.devices. */
  readonly device: number;
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
}

export const DEFAULT_VIEW: ViewState = {
  device: 0,
  axis: 'event',
  x: 'all',
  y: 'fit',
  selection: undefined,
  colorBy: 'stack',
  lines: ['allocatedBytes', 'activeBytes', 'reservedBytes'],
  cursor: undefined,
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
export function onDevice(device: number): Partial<ViewState> {
  return { device, x: 'all', y: 'fit', selection: undefined, cursor: undefined };
}
