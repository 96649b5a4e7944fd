/** The views on a snapshot. Each view but the timeline is a chunk of its own, fetched when first shown. */

import { type ComponentType, type RefObject, useState } from 'react';
import { plural } from '../../../base/format.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { VIEW_NAMES, type ViewName } from '../../../state/view-store.ts';
import { RecordRecipes } from '../../panels/recipes/record-recipes.tsx';
import { isOverlayOpen, useKeys, useShortcuts } from '../../shared/browser.ts';
import { Button } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';
import { Blank, Bytes, Fact } from '../../shared/facts.tsx';
import { useLazy } from '../../shared/lazy.ts';
import { useDevice } from '../../shared/services.ts';
import { ViewModes } from '../../shared/view-modes.tsx';
import { digitOf, VIEW_LABELS, VIEW_TABS, viewsOfTab } from '../../shared/view-names.ts';
import { View as TimelineView } from '../../views/timeline/timeline-view.tsx';

/** By the names of the folders and files: views/NAME/NAME-view.tsx. */
const FILES = import.meta.glob<{ readonly View: ComponentType<object> }>([
  '../../views/*/*-view.tsx',
  '!../../views/timeline/*',
]);

const missingView = () => Promise.reject(new Error('No such view'));

export function ViewTabs() {
  const { view } = useStores();
  const { device } = useDevice();
  const current = useView((state) => state.view);
  const show = (name: ViewName) => () => view.commit({ view: name });
  useShortcuts(Object.fromEntries(VIEW_NAMES.map((name) => [digitOf(name), show(name)])));
  const [lastMode, setLastMode] = useState<ViewName>();
  if (current !== lastMode && viewsOfTab(current).length > 1) setLastMode(current);
  /** Of several views, the last one shown, else the first that this device can fill. */
  const viewToOpen = (views: readonly ViewName[]) =>
    views.find((name) => name === lastMode) ??
    views.find((name) => device.events > 0 || !VIEW_LABELS[name].needsTrace) ??
    views[0];
  return (
    <nav className="view-tabs" data-testid="view-tabs" aria-label="Views">
      {VIEW_TABS.map(({ label, icon: Icon, views }) => {
        const isCurrent = views.includes(current);
        const next = isCurrent ? current : (viewToOpen(views) ?? current);
        return (
          <Button
            icon={Icon}
            key={label}
            className="tab view-tab"
            aria-current={isCurrent ? 'page' : undefined}
            title={`${label} (${views.map(digitOf).join(', ')})`}
            onClick={show(next)}
          >
            {label}
          </Button>
        );
      })}
    </nav>
  );
}

export function ViewSlot({ name }: { readonly name: ViewName }) {
  const { device } = useDevice();
  if (VIEW_LABELS[name].needsTrace && device.events === 0) return <NoTrace />;
  return <FetchedView key={name} name={name} />;
}

function FetchedView({ name }: { readonly name: ViewName }) {
  const [hasFailed, setHasFailed] = useState(false);
  const load = FILES[`../../views/${name}/${name}-view.tsx`] ?? missingView;
  const fetched = useLazy(load, name !== 'timeline', () => setHasFailed(true));
  if (name === 'timeline') return <TimelineView />;
  if (fetched !== undefined) return <fetched.View />;
  if (!hasFailed) return <div className="blank" aria-busy />;
  return (
    <Blank
      isAlert
      title={`The ${VIEW_LABELS[name].label.toLowerCase()} view could not be loaded`}
      text="The server of this page is gone or has a newer version. Reload the page and open the file again."
    />
  );
}

/** Shown if only the device's final state is known. */
function NoTrace() {
  const { device } = useDevice();
  return (
    <div className="blank">
      <ViewModes />
      <h2>No history was recorded on this device</h2>
      <p>
        {device.recordingReason} There is nothing to show over time. This is the memory at the time
        of the snapshot, in {plural(device.segmentsAtEnd, 'segment')}:
      </p>
      <dl className="facts">
        {COUNTERS.map(({ name, label, about }) => (
          <Fact key={name} term={label} about={about}>
            <Bytes bytes={device.end[name]} />
          </Fact>
        ))}
      </dl>
      <h3 className="ruled">To see what filled it, record its history</h3>
      <RecordRecipes />
    </div>
  );
}

/** Nothing else on the page uses these keys, except text fields. */
const FREE_KEYS: ReadonlySet<string> = new Set([...'+=-_0fxwasd[]{}']);

/** Keys that usually belong to the focused element. The view gets them if nothing or a control that shows a view has the focus. */
const OWNED_KEYS = /^(Arrow(Left|Right|Up|Down)|Page(Up|Down)|Home|End|Enter|Escape)$/;

/**
 * Passes keys to the view's element marked `data-takes-keys`, so a view's keys work wherever the focus is. The
 * allocator state view has no such element: it listens to the window itself.
 */
export function useViewKeys(view: RefObject<HTMLElement | null>): void {
  useKeys((event, target) => {
    const { key, altKey, shiftKey } = event;
    if (!event.isTrusted || event.ctrlKey || event.metaKey || isOverlayOpen()) return false;
    const taker = view.current?.querySelector('[data-takes-keys]') ?? undefined;
    if (taker === undefined || taker.contains(target)) return false;
    const isOnTab = target.closest('.view-tabs, .view-modes') !== null;
    const isOwned = OWNED_KEYS.test(key) && !(isOnTab && key === 'Enter');
    const isOurs = FREE_KEYS.has(key) || (isOwned && (isOnTab || target === document.body));
    return isOurs && handOn(taker, { key, altKey, shiftKey });
  });
}

/** Returns true if the element handled the key. Listeners on the window get the original, not this copy. */
function handOn(taker: Element, key: KeyboardEventInit): boolean {
  const copy = new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true });
  const stop = (event: Event) => {
    if (event === copy) event.stopPropagation();
  };
  document.addEventListener('keydown', stop);
  taker.dispatchEvent(copy);
  document.removeEventListener('keydown', stop);
  return copy.defaultPrevented;
}
