/**
 * What the user looks at: small, serializable, and all in the URL. Excludes hover and drag, which change every frame.
 *
 * Each user action gets one history entry. A commit is one action: zooming to a range, selecting an allocation. A
 * gesture is one action, however many moves it has: a drag from press to release, or wheel steps or held keys up to
 * the first pause. Adjustments by the page itself get none.
 */
import { createStore } from 'zustand/vanilla';
import type { CounterName } from '../allocator/replay/types.ts';
import type { FlameDataset } from '../device/flame-graph/stack-weights.ts';
import type { FlameFrames, FlameGrouping, FlameWeight } from '../device/flame-graph/types.ts';
import type { SiteColors } from '../draw/coloring/site-colors.ts';
import type { ColorBy, TimeAxis } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import type { Range, Sort } from './url-params.ts';

export type { Range, Sort };

/** The views of a device, in tab order. */
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

/** Which allocations the flame graph adds up, by which weight, and how it shows them. */
export const DEFAULT_FLAME = {
  /**
   * Live at the cursor, at the peak or at the end; allocated in the window; or the second cursor against the cursor.
   */
  dataset: 'peak' as FlameDataset,
  weight: 'bytes' as FlameWeight,
  groupBy: 'line' as FlameGrouping,
  /** Which frames get boxes. */
  frames: 'known' as FlameFrames,
  /** Callees at the root, callers above them. */
  inverted: false,
  /** The zoomed frame, in the flame graph's own format; undefined for the whole. */
  root: undefined as string | undefined,
  /** What is done to the stacks first, in the format of src/device/flame-graph/transform-text.ts. */
  transforms: '',
  /** The function (or file, or library) whose callers and callees are shown; same format. */
  sandwich: undefined as string | undefined,
};
export type FlameView = Readonly<typeof DEFAULT_FLAME>;

export const DEFAULT_VIEW = {
  view: 'timeline' as ViewName,
  /** Position in SessionInfo.devices. */
  deviceIndex: 0,
  axis: 'event' as TimeAxis,
  /** Shortens idle gaps in time plots; `x` and all figures stay in true time. */
  foldsGaps: false,
  /** In events or microseconds (see `axis`); 'all' is the whole trace, whatever its length. */
  x: 'all' as Range | 'all',
  /** 'fit' reaches the highest value of the whole trace, so that panning does not rescale. */
  y: 'fit' as Range | 'fit',
  /** Label of the pinned allocation, as PyTorch's viewer writes it: b7f064c000000_0. */
  selection: undefined as string | undefined,
  colorBy: 'stack' as ColorBy,
  /** 'class' orders the timeline by class, one layer each. */
  stackOrder: 'time' as 'time' | 'class',
  /** Colors of the call sites in the legend. They follow from the rest, so they are not in the URL. */
  siteColors: '' as SiteColors,
  lines: ['allocatedBytes', 'activeBytes', 'reservedBytes'] as readonly CounterName[],
  /** Event at which the crosshair is pinned. */
  cursor: undefined as EventIndex | undefined,
  /** The second cursor; the page measures the distance to the first. */
  secondCursor: undefined as EventIndex | undefined,
  /** Text of the search box (src/device/search); '' matches all. */
  search: '',
  /** Hides everything but the matches; otherwise the rest is dimmed. */
  onlyMatches: false,
  /** Fingerprint of the visible finding. */
  finding: undefined as string | undefined,
  /** Window of the address map, in bytes of its packed addresses. */
  addresses: 'fit' as Range | 'fit',
  flame: DEFAULT_FLAME as FlameView,
  /** Of the allocations table. */
  sort: undefined as Sort | undefined,
  /** Allocator setting to compare with the recorded run, as in PYTORCH_ALLOC_CONF. */
  setting: undefined as string | undefined,
  /** Bytes that PyTorch may reserve in what-if runs; undefined means the recorded run's limit. */
  limit: undefined as number | 'none' | undefined,
  /**
   * The comparison with another file, in the format of src/ui/pages/compare. Plain text here, so that only the lazy
   * chunk for comparisons needs to know the format.
   */
  comparison: undefined as string | undefined,
};
export type ViewState = Readonly<typeof DEFAULT_VIEW>;

export interface ViewStoreState {
  readonly view: ViewState;
  /** Grows with each commit; url-sync turns it into a history entry. */
  readonly commits: number;
  readonly moves: number;
  /** Grows when a drag begins and when it ends, since moves before and after belong to different gestures. */
  readonly gesture: number;
  readonly isDragging: boolean;
  /** Grows with each view restored from a URL, Back or a new file. */
  readonly restores: number;
  /** The event that the device in view opened at, where Esc returns the cursor to. */
  readonly opening: ViewState['cursor'];
}

/** What was clicked. Esc undoes a run of clicks on the same kind of thing at once. */
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
    opening: initial.cursor,
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
    /** A step of a continuous movement: pan, wheel, drag, a held key. */
    move(change: Partial<ViewState>): void {
      store.setState(({ view, moves }) => ({ view: { ...view, ...change }, moves: moves + 1 }));
    },
    /** A deliberate change that Back should undo. */
    commit,
    /** A consequence of the last change, such as scrolling the cursor into view; no history entry. */
    adjust,
    click(thing: ClickedThing, change: Partial<ViewState>): void {
      remember(thing, change);
      commit(change);
    },
    /** Adds what the click turned out to hit to that click and its history entry. */
    amendClick(thing: ClickedThing, change: Partial<ViewState>): void {
      remember(thing, change);
      adjust(change);
    },
    /** Undoes the last clicks, except for values changed since. False if there is nothing to undo. */
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
    /** All moves until `endDrag` are one gesture, even with pauses. */
    beginDrag: () => setDragging(true),
    endDrag: () => setDragging(false),
    /** Sets where Esc returns the cursor to. */
    opensAt: (opening: ViewState['cursor']) => store.setState({ opening }),
    /** Applies the view of a URL or of a new file; no history entry. */
    restore(view: ViewState): void {
      clicks = [];
      store.setState(({ restores }) => ({ view, restores: restores + 1 }));
    },
  };
}

interface Click {
  readonly thing: ClickedThing;
  /** The click's fields, with their values before and after. */
  readonly before: Partial<ViewState>;
  readonly after: Partial<ViewState>;
}

/** The change that undoes a click, limited to fields nobody has changed since. */
const undoing = ({ before, after }: Click, view: ViewState): Partial<ViewState> =>
  fieldsOf({ ...view, ...before }, (key) => {
    return key in before && view[key] === after[key] && view[key] !== before[key];
  });

function fieldsOf(view: ViewState, isWanted: (key: keyof ViewState) => boolean) {
  const wanted = Object.entries(view).filter(([key]) => isWanted(key as keyof ViewState));
  return Object.fromEntries(wanted) as Partial<ViewState>;
}
