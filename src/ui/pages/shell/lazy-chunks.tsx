import { type ComponentType, useEffect, useState } from 'react';
import { useServices } from '../../shared/services.ts';
import type { GivenRanks } from '../ranks/rank-sources.ts';
import type { RanksPageProps } from '../ranks/ranks-page.tsx';

interface HelpProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** A component that is fetched when it is first wanted; without a network `onFailure` is called. */
function useLazy<P>(
  isWanted: boolean,
  load: () => Promise<ComponentType<P>>,
  onFailure: () => void,
): ComponentType<P> | undefined {
  const { idle } = useServices();
  const [loaded, setLoaded] = useState<{ readonly component: ComponentType<P> }>();
  const isMissing = isWanted && loaded === undefined;
  useEffect(() => {
    if (!isMissing) return;
    idle.during(async () => setLoaded({ component: await load() })).catch(onFailure);
  }, [isMissing, idle, load, onFailure]);
  return loaded?.component;
}

const loadHelp = async () => (await import('./help-dialog.tsx')).HelpDialog;
const loadRanks = async () => (await import('../ranks/ranks-page.tsx')).RanksPage;

/** The help; without a network it stays closed. */
export function LazyHelp({ isOpen, onClose }: HelpProps) {
  const Dialog = useLazy(isOpen, loadHelp, onClose);
  return Dialog && <Dialog isOpen={isOpen} onClose={onClose} />;
}

/** The ranks of a job, once there are any. */
export function LazyRanks({
  given,
  ...props
}: Omit<RanksPageProps, 'given'> & { readonly given: GivenRanks | undefined }) {
  const Page = useLazy(given !== undefined, loadRanks, props.onClose);
  return given && Page && <Page given={given} {...props} />;
}

/**
 * What is needed only once there is something to show: D3, the panels, the timeline. It is fetched
 * as soon as a file is in sight, while the worker reads, so that the empty page stays light.
 *
 * Not React.lazy: React holds what was suspended back for 300 ms after a fallback, and a small
 * snapshot is on screen in half of that. An opening waits for both the snapshot and its views.
 */
type Workbench = typeof import('./workbench.tsx');

let loading: Promise<Workbench> | undefined;
let loaded: Workbench | undefined;

/** May be called often: fetches once, and again only after a failure. */
export async function loadWorkbench(): Promise<void> {
  loading ??= import('./workbench.tsx');
  try {
    loaded = await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** Starts loading; a failure is reported when the views are needed. */
export function preloadWorkbench(): void {
  loadWorkbench().catch(() => undefined);
}

/** Undefined until they are loaded. */
export function loadedWorkbench(): Workbench | undefined {
  return loaded;
}
