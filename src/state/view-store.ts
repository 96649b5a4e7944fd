/**
 * What the user looks at: small, serialisable, all of it in the URL. Hover and drag change every
 * frame and are not here.
 *
 * Each thing a person does gets one history entry. A commit is one: a range zoomed to, an allocation
 * selected. A gesture is one, however many moves it takes: a drag from press to release, or wheel steps or
 * held keys up to the first pause. What the page adjusts by itself gets none.
 */
import { createStore } from 'zustand/vanilla';
import type { CounterName } from '../allocator/replay/types.ts';
import type { FlameDataset } from '../device/flame-graph/stack-weights.ts';
import type { FlameFrames, FlameGrouping, FlameWeight } from '../device/flame-graph/types.ts';
import type { SiteColors } from '../draw/coloring/site-colors.ts';
import type { ColorBy, TimeAxis } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';

/** From–to on one axis, from < to: events or microseconds (see `axis`), or bytes. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The views on a device, in the order of their tabs. */
export const VIEW_NAMES = [
  'timeline',
  'address-map',
  'segments',
  'allocator-state',
  'flame-graph',
  'events',
  'allocations',
  'memory-summary',
  'what-if',
] as const;
export type ViewName = (typeof VIEW_NAMES)[number];

/** Which allocations the flame graph adds up, by what, and how it shows them. */
export interface FlameView {
  /** Live at the cursor, at the peak, at the end; allocated in the window; the second cursor against the cursor. */
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
  /** Plots by time cut idle gaps short; `x` and all figures are still in true time. */
  readonly foldsGaps: boolean;
  /** 'all' is the whole trace, whatever its length. */
  readonly x: Range | 'all';
  /** 'fit' reaches to the highest value of the whole trace, so panning does not rescale. */
  readonly y: Range | 'fit';
  /** Label of the pinned allocation, as PyTorch's viewer writes it: b7f064c000000_0. */
  readonly selection: string | undefined;
  readonly colorBy: ColorBy;
  /** By class, the timeline is ordered by class: one band each. */
  readonly stackOrder: 'time' | 'class';
  /** Colors of the call sites that the legend names. Follows from the rest, so it is not in the URL. */
  readonly siteColors: SiteColors;
  readonly lines: readonly CounterName[];
  /** Event at which the crosshair is pinned. */
  readonly cursor: EventIndex | undefined;
  /** The second cursor: what lies between it and the first is measured. */
  readonly secondCursor: EventIndex | undefined;
  /** Text of the search box (src/device/search); '' matches all. */
  readonly search: string;
  /** Hide everything but the matches; otherwise the rest is dimmed. */
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
  /**
   * The comparison with another file, as src/ui/pages/compare writes it; undefined where none is shown. It is plain
   * text here, so that only the chunk of comparisons has to know the format.
   */
  readonly comparison: string | undefined;
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
  foldsGaps: false,
  x: 'all',
  y: 'fit',
  selection: undefined,
  colorBy: 'stack',
  stackOrder: 'time',
  siteColors: '',
  lines: ['allocatedBytes', 'activeBytes', 'reservedBytes'],
  cursor: undefined,
  secondCursor: undefined,
  search: '',
  onlyMatches: false,
  finding: undefined,
  addresses: 'fit',
  flame: DEFAULT_FLAME,
  sort: undefined,
  setting: undefined,
  limit: undefined,
  comparison: undefined,
};

export interface ViewStoreState {
  readonly view: ViewState;
  /** Grows with each commit; url-sync makes a history entry of it. */
  readonly commits: number;
  /** Grows with each move. */
  readonly moves: number;
  /** Grows where a drag begins and where it ends: moves before and after belong to different gestures. */
  readonly gesture: number;
  readonly isDragging: boolean;
  /** Grows with each view that came from a URL, Back or a new file. */
  readonly restores: number;
}

/** What a click was on. Esc undoes a run of clicks on the same kind of thing at once. */
type ClickedThing = 'allocation' | 'legend' | 'account' | 'finding';

export type ViewStore = ReturnType<typeof createViewStore>;

export function createViewStore(initial: ViewState = DEFAULT_VIEW) {
  const store = createStore<ViewStoreState>(() => ({
    view: initial,
    commits: 0,
    moves: 0,
    gesture: 0,
    isDragging: false,
    restores: 0,
  }));
  /** What clicks have set, the latest last. */
  let clicks: readonly Click[] = [];
  function commit(change: Partial<ViewState>): void {
    store.setState(({ view, commits }) => ({ view: { ...view, ...change }, commits: commits + 1 }));
  }
  function adjust(change: Partial<ViewState>): void {
    store.setState(({ view }) => ({ view: { ...view, ...change } }));
  }
  function setDragging(isDragging: boolean): void {
    store.setState(({ gesture }) => ({ gesture: gesture + 1, isDragging }));
  }
  function remember(thing: ClickedThing, after: Partial<ViewState>): void {
    const before = fieldsOf(store.getState().view, (key) => key in after);
    const last = clicks.at(-1);
    clicks =
      last?.thing === thing
        ? [
            ...clicks.slice(0, -1),
            { thing, before: { ...before, ...last.before }, after: { ...last.after, ...after } },
          ]
        : [...clicks, { thing, before, after }];
  }
  return {
    ...store,
    /** A step of a continuous movement: pan, wheel, drag, a key that is held. */
    move(change: Partial<ViewState>): void {
      store.setState(({ view, moves }) => ({ view: { ...view, ...change }, moves: moves + 1 }));
    },
    /** A deliberate change that Back should undo. */
    commit,
    /** A consequence of the last change, such as bringing the cursor into view; no history entry. */
    adjust,
    /** A commit that `undoClick` takes back. */
    click(thing: ClickedThing, change: Partial<ViewState>): void {
      remember(thing, change);
      commit(change);
    },
    /** Adds what a click turned out to be on to that click and its history entry. */
    amendClick(thing: ClickedThing, change: Partial<ViewState>): void {
      remember(thing, change);
      adjust(change);
    },
    /** Undoes what the last clicks set, but not what has changed since. False when there is nothing to undo. */
    undoClick(): boolean {
      for (let last = clicks.at(-1); last !== undefined; last = clicks.at(-1)) {
        clicks = clicks.slice(0, -1);
        const change = undoing(last, store.getState().view);
        if (Object.keys(change).length === 0) continue;
        commit(change);
        return true;
      }
      return false;
    },
    /** All moves from here to `endDrag` are one gesture, whatever pauses they have. */
    beginDrag: () => setDragging(true),
    endDrag: () => setDragging(false),
    /** The view of a URL or of a new file; no history entry. */
    restore(view: ViewState): void {
      clicks = [];
      store.setState(({ restores }) => ({ view, restores: restores + 1 }));
    },
  };
}

interface Click {
  readonly thing: ClickedThing;
  /** The fields that it set: their values before and after. */
  readonly before: Partial<ViewState>;
  readonly after: Partial<ViewState>;
}

/** The change that undoes a click, for those of its fields that nobody has changed since. */
const undoing = ({ before, after }: Click, view: ViewState): Partial<ViewState> =>
  fieldsOf({ ...view, ...before }, (key) => {
    return key in before && view[key] === after[key] && view[key] !== before[key];
  });

function fieldsOf(view: ViewState, isWanted: (key: keyof ViewState) => boolean) {
  const wanted = Object.entries(view).filter(([key]) => isWanted(key as keyof ViewState));
  return Object.fromEntries(wanted) as Partial<ViewState>;
}
